import type { Context } from 'koa';
import { SIGN_IN_HOURS } from '../../../protocol/api/sign-ins.ts';
import { AccountError, type AccountErrorCode } from '../../accounts/account-error.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { LimitError } from '../../accounts/limits/limit-error.ts';
import type { LostKeys } from '../../accounts/lost-key/lost-keys.ts';
import type { SecondFactors } from '../../accounts/second-factors/second-factors.ts';
import type { SignIns } from '../../accounts/sign-ins/sign-ins.ts';
import type { FormSection, Section } from '../../pages/console-page.ts';
import { readFormBody } from '../body.ts';
import { problemOf } from '../domain-problems.ts';
import { Problem, toProblem } from '../problem.ts';
import type { Answer, PageRoute } from '../route.ts';
import { ended } from '../routes/lost-key.ts';
import { isOwnForm } from '../sign-in-cookie.ts';
import { addressOf, consolePage, type ConsolePageServices, openRoute, refused, seeOther } from './console-page.ts';
import { factorForms, shownBy } from './shown-factor.ts';

const MAIL = '/console/mail';
const ENTER = '/console/enter/:token';
const BODY = { maxBytes: 32 << 10, deadlineMs: 5_000 };
/** With these, and past a limit, the link is shown again: a passkey may be shown instead. */
const FACTOR_ERRORS: ReadonlySet<AccountErrorCode> = new Set(['second-factor-needed', 'second-factor-wrong']);

export interface MailedSignInServices extends ConsolePageServices {
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly signIns: Pick<SignIns, 'create'>;
  readonly lostKeys: Pick<LostKeys, 'openSignIn' | 'request' | 'signIn'>;
  readonly secondFactors: Pick<SecondFactors, 'site'>;
}

/** Signing in by a link that is mailed to the account's address. */
export function mailedSignInRoutes(services: MailedSignInServices): readonly PageRoute[] {
  return [
    openRoute('POST', MAIL, ({ context }) => sendLink(services, context)),
    openRoute('GET', ENTER, ({ params }) => showButton(services, params.token ?? '')),
    openRoute('POST', ENTER, ({ context, params }) => enter(services, context, params.token ?? '')),
  ];
}

/** The same words whether there is an account or not, before anything is looked up. */
async function sendLink(services: MailedSignInServices, context: Context): Promise<Answer> {
  const typed = await ownForm(context);
  return told(services, MAIL, async () => {
    services.lostKeys.request(typed.get('email') ?? '', addressOf(services, context), ended(context.res), 'sign-in');
    return consolePage(services, MAIL, null, { title: 'Look at your mail', screen: null, sections: [SENT] });
  });
}

/** To open a link changes nothing: programs that look through mails open links too. */
function showButton(services: MailedSignInServices, token: string): Promise<Answer> {
  return told(services, ENTER, () => buttonPage(services, token));
}

async function buttonPage(services: MailedSignInServices, token: string, wrong?: Problem): Promise<Answer> {
  const { account, factors } = await services.lostKeys.openSignIn(token);
  const about = `At the account ${account}, for ${SIGN_IN_HOURS} hours at most.`;
  const form: FormSection = { ...BUTTON, about, action: `console/enter/${token}` };
  const forms = factors === undefined ? [form] : await factorForms(services.secondFactors, factors, token, form);
  const sections = [...(wrong === undefined ? [] : [refused(wrong)]), ...forms];
  return consolePage(services, ENTER, null, { title: 'Sign in', screen: null, sections, status: wrong?.status ?? 200 });
}

/**
 * Spends the link, and a second factor where there is one, for a key that ends with the sign-in, and whose text nobody
 * sees.
 */
async function enter(services: MailedSignInServices, context: Context, token: string): Promise<Answer> {
  const shown = shownBy(await ownForm(context), token);
  return told(services, ENTER, async () => {
    try {
      const { apiKey, ...mailed } = await services.lostKeys.signIn(token, shown);
      const found = await services.accounts.authenticate(apiKey);
      if (typeof found === 'string') throw new Problem('link-invalid', 'The key of this link ended at once.');
      const { secret } = await services.signIns.create(found.caller, addressOf(services, context), mailed);
      return seeOther(ENTER, 'console', { 'Set-Cookie': services.cookie.set(secret) });
    } catch (error) {
      const isShownAgain =
        error instanceof LimitError || (error instanceof AccountError && FACTOR_ERRORS.has(error.code));
      if (!isShownAgain) throw error;
      return buttonPage(services, token, toProblem(problemOf(error)));
    }
  });
}

/** What a form of this node sent. Throws `Problem` 403 where another page did. */
async function ownForm(context: Context): Promise<URLSearchParams> {
  const typed = await readFormBody(context.req, BODY);
  if (isOwnForm(context.req)) return typed;
  throw new Problem('scope-forbidden', 'Another page sent this form: send it from here.');
}

/** What is refused is told of on a page; a fault of the node's is thrown on. */
async function told(services: MailedSignInServices, path: string, show: () => Promise<Answer>): Promise<Answer> {
  try {
    return await show();
  } catch (error) {
    const problem = toProblem(problemOf(error));
    if (problem.isFault) throw problem;
    const content = { title: 'Sign in', screen: null, sections: [refused(problem), MAIL_FORM], status: problem.status };
    return consolePage(services, path, null, content);
  }
}

const SENT: Section = {
  kind: 'text',
  title: null,
  tone: 'good',
  paragraphs: ['● If the address is that of an account of this node, a link is on its way.'],
  copy: null,
};
const FORM = { kind: 'form', danger: null, method: 'post', hidden: [], isDrafted: false } as const;
const BUTTON = { ...FORM, title: 'By this link', fields: [], submit: 'Sign in' } as const;
const FIELD = { choices: [], value: '', help: null, error: null, maxLength: null } as const;

/** The form that asks for a link. */
export const MAIL_FORM: Section = {
  ...FORM,
  title: 'By a link in a mail',
  about: 'It comes to the address that the account was made with, and works once, for 15 minutes.',
  action: MAIL.slice(1),
  fields: [{ ...FIELD, name: 'email', title: 'Mail address', kind: 'text', isRequired: true }],
  submit: 'Send me a link',
};
