import type { Context } from 'koa';
import { LINK_TOKEN_PATTERN } from '../../../protocol/api/lost-key.ts';
import { SignUpRequestShape } from '../../../protocol/api/sign-up.ts';
import { keyState } from '../../accounts/api-key.ts';
import type { LostKeys } from '../../accounts/lost-key/lost-keys.ts';
import type { SignUp } from '../../accounts/sign-up/sign-up.ts';
import type { FormField, Section, TextSection } from '../../pages/console-page.ts';
import { readFormBody } from '../body.ts';
import { problemOf } from '../domain-problems.ts';
import { type Problem, toProblem } from '../problem.ts';
import type { Answer, Call, PageRoute } from '../route.ts';
import { ended } from '../routes/lost-key.ts';
import { isOwnForm } from '../sign-in-cookie.ts';
import { validator } from '../validation.ts';
import { addressOf, consolePage, type ConsolePageServices, openRoute, refused } from './console-page.ts';
import { CODE_FIELD, shownBy } from './shown-factor.ts';

const SIGN_UP = '/sign-up';
const LOST_KEY = '/lost-key';
const LINK = '/lost-key/:token';
/** So short a body comes at once, or somebody holds a place with it. */
const BODY = { maxBytes: 16 << 10, deadlineMs: 5_000 };
const TOKEN = new RegExp(LINK_TOKEN_PATTERN);
const REVOKE = 'revoke.';

export interface AccountPageServices extends ConsolePageServices {
  readonly signUp: Pick<SignUp, 'request'>;
  readonly lostKeys: Pick<LostKeys, 'open' | 'replace' | 'request'>;
  readonly now: () => number;
}

const validateSignUp = validator(SignUpRequestShape);

/** What people without a key do in a browser: they sign up, and they replace lost keys. */
export function accountPageRoutes(services: AccountPageServices): readonly PageRoute[] {
  return [
    openRoute('GET', SIGN_UP, async () => signUpPage(services)),
    openRoute('POST', SIGN_UP, (call) => signedUp(services, call)),
    openRoute('GET', LOST_KEY, async () => lostKeyPage(services)),
    openRoute('POST', LOST_KEY, (call) => linkSent(services, call)),
    openRoute('GET', LINK, (call) => linkPage(services, call)),
    openRoute('POST', LINK, (call) => replaced(services, call)),
  ];
}

function signUpPage(services: AccountPageServices, before: readonly Section[] = [], status = 200): Promise<Answer> {
  const form = formOf(
    'Sign up',
    SIGN_UP,
    'Send me a key',
    [EMAIL_FIELD],
    'The key of a new account comes by mail. It is free.',
  );
  const links: Section = {
    kind: 'links',
    title: 'Already here',
    links: [
      { text: 'Sign in', href: 'console/sign-in' },
      { text: 'Replace a lost key', href: 'lost-key' },
    ],
  };
  return consolePage(services, SIGN_UP, null, {
    title: 'Sign up',
    screen: null,
    sections: [...before, form, links],
    status,
  });
}

/** The same words whether the address is known or not. */
async function signedUp(services: AccountPageServices, { context }: Call): Promise<Answer> {
  const typed = await ownForm(context);
  if (typed === undefined) return signUpPage(services, [FOREIGN], 403);
  try {
    await services.signUp.request(validateSignUp({ email: typed.get('email') ?? '' }), addressOf(services, context));
  } catch (error) {
    return refusedPage(error, (section, status) => signUpPage(services, [section], status));
  }
  return consolePage(services, SIGN_UP, null, { title: 'Look at your mail', screen: null, sections: [SENT] });
}

function lostKeyPage(services: AccountPageServices, before: readonly Section[] = [], status = 200): Promise<Answer> {
  const about = 'A link comes to the address that the account was made with. It works once, for 15 minutes.';
  const form = formOf('Replace a lost key', LOST_KEY, 'Send me a link', [EMAIL_FIELD], about);
  return consolePage(services, LOST_KEY, null, {
    title: 'Lost keys',
    screen: null,
    sections: [...before, form],
    status,
  });
}

async function linkSent(services: AccountPageServices, { context }: Call): Promise<Answer> {
  const typed = await ownForm(context);
  if (typed === undefined) return lostKeyPage(services, [FOREIGN], 403);
  try {
    const { email } = validateSignUp({ email: typed.get('email') ?? '' });
    services.lostKeys.request(email, addressOf(services, context), ended(context.res));
  } catch (error) {
    return refusedPage(error, (section, status) => lostKeyPage(services, [section], status));
  }
  return consolePage(services, LOST_KEY, null, { title: 'Look at your mail', screen: null, sections: [SENT] });
}

/** Shows what the link is for. To open it changes nothing: programs that look through mails open links too. */
async function linkPage(
  services: AccountPageServices,
  { params }: Call,
  before: readonly Section[] = [],
): Promise<Answer> {
  const token = params.token ?? '';
  const content = { title: 'Replace lost keys', screen: null } as const;
  try {
    const { account, keys, factors } = await services.lostKeys.open(token);
    const active = keys.filter((key) => keyState(key, services.now()) === 'active');
    const ends = active.map(({ id, name }) => flag(REVOKE + id, `End ${name === null ? id : `${name}, ${id}`}`));
    const fields = factors === undefined ? ends : [...ends, CODE_FIELD];
    const about = `Of the account ${account}. A new key that may do everything is shown once; the keys that you name end.`;
    const form = formOf('Make a new key', `/lost-key/${token}`, 'Make it', fields, about);
    return await consolePage(services, LINK, null, { ...content, sections: [...before, form] });
  } catch (error) {
    return refusedPage(error, (section, status) =>
      consolePage(services, LINK, null, { ...content, sections: [section], status }),
    );
  }
}

async function replaced(services: AccountPageServices, call: Call): Promise<Answer> {
  const typed = await ownForm(call.context);
  if (typed === undefined) return linkPage(services, call, [FOREIGN]);
  const token = call.params.token ?? '';
  try {
    const revoke = [...typed.keys()].flatMap((name) => (name.startsWith(REVOKE) ? [name.slice(REVOKE.length)] : []));
    const { apiKey } = await services.lostKeys.replace(TOKEN.test(token) ? token : '', revoke, shownBy(typed, token));
    const secret: TextSection = {
      kind: 'text',
      title: 'Your new key',
      tone: 'good',
      paragraphs: ['It is shown once, now, and is nowhere afterwards.'],
      copy: apiKey,
    };
    const links: Section = {
      kind: 'links',
      title: 'Go on',
      links: [{ text: 'Sign in with it', href: 'console/sign-in' }],
    };
    return await consolePage(services, LINK, null, { title: 'Your new key', screen: null, sections: [secret, links] });
  } catch (error) {
    return refusedPage(error, (section) => linkPage(services, call, [section]));
  }
}

function flag(name: string, title: string): FormField {
  return { ...PLAIN, name, title, kind: 'flag', isRequired: false };
}

/** What a form of this node sent; undefined where another page did. */
async function ownForm(context: Context): Promise<URLSearchParams | undefined> {
  const typed = await readFormBody(context.req, BODY);
  return isOwnForm(context.req) ? typed : undefined;
}

/** A fault of the node's is no page: it is thrown on. */
function refusedPage(error: unknown, show: (section: Section, status: number) => Promise<Answer>): Promise<Answer> {
  const problem: Problem = toProblem(problemOf(error));
  if (problem.isFault) throw problem;
  return show(refused(problem), problem.status);
}

function formOf(title: string, action: string, submit: string, fields: readonly FormField[], about: string): Section {
  const shared = { kind: 'form', method: 'post', danger: null, hidden: [], isDrafted: false } as const;
  return { ...shared, title, about, action: action.slice(1), fields, submit };
}

const PLAIN = { choices: [], value: '', help: null, error: null, maxLength: null };
const EMAIL_FIELD: FormField = { ...PLAIN, name: 'email', title: 'Mail address', kind: 'text', isRequired: true };
const FOREIGN = refused(new Error('Another page sent this form: send it from here.'));
const SENT: Section = {
  kind: 'text',
  title: null,
  tone: 'good',
  paragraphs: ['● If the address can have one, a mail is on its way. It says how to go on.'],
  copy: null,
};
