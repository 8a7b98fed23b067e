import type { Accounts } from '../../accounts/accounts.ts';
import { MAX_API_KEY_CHARACTERS } from '../../accounts/key-text.ts';
import type { AuthenticatedKey } from '../../accounts/known-keys.ts';
import type { AddressLimits } from '../../accounts/limits/address-limits.ts';
import type { SignIns } from '../../accounts/sign-ins/sign-ins.ts';
import type { Section } from '../../pages/console-page.ts';
import { isTakenFrom } from '../authentication.ts';
import { readFormBody } from '../body.ts';
import type { PageRoute } from '../route.ts';
import { isOwnForm } from '../sign-in-cookie.ts';
import { addressOf, consolePage, refused, seeOther, signedInRoute } from './console-page.ts';
import { requireToken } from './form-token.ts';
import { MAIL_FORM, mailedSignInRoutes, type MailedSignInServices } from './mailed-sign-in.ts';

const SIGN_IN = '/console/sign-in';
const SIGN_OUT = '/console/sign-out';
const BODY = { maxBytes: 8 << 10 };
/** Requests that one wrong key counts for, beside the one that brought it. */
const WRONG_KEY_REQUESTS = 4;

export interface SignInServices extends MailedSignInServices {
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly signIns: Pick<SignIns, 'create' | 'end'>;
  readonly addresses: Pick<AddressLimits, 'admit'>;
}

/** The way into the console, and out of it. */
export function signInRoutes(services: SignInServices): readonly PageRoute[] {
  return [formRoute(services), signInRoute(services), ...mailedSignInRoutes(services), signOutRoute(services)];
}

function formRoute(services: SignInServices): PageRoute {
  return {
    method: 'GET',
    path: SIGN_IN,
    access: 'free',
    isPage: true,
    async answer({ context }) {
      const signedIn = await services.cookie.signedIn(context.req);
      return signedIn === undefined ? showForm(services, []) : seeOther(SIGN_IN, 'console');
    },
  };
}

/**
 * `POST /console/sign-in`: a key, once, for a secret that its browser alone has. The secret is a fresh one whatever
 * cookie came along, and whatever is wrong with a key is answered in the same words.
 */
function signInRoute(services: SignInServices): PageRoute {
  return {
    method: 'POST',
    path: SIGN_IN,
    access: 'free',
    isPage: true,
    async answer({ context }) {
      const address = addressOf(services, context);
      const apiKey = (await readFormBody(context.req, BODY)).get('apiKey')?.trim() ?? '';
      if (!isOwnForm(context.req)) {
        return showForm(services, [refused(new Error('Another page sent this form: sign in here.'))], 403);
      }
      const found = await authenticated(services, apiKey);
      if (found === undefined || !isTakenFrom(found, address)) {
        services.addresses.admit(address, WRONG_KEY_REQUESTS);
        return showForm(services, [refused(new Error('This key is not taken here.'))], 401);
      }
      const { secret } = await services.signIns.create(found.caller, address);
      return seeOther(SIGN_IN, 'console', { 'Set-Cookie': services.cookie.set(secret) });
    },
  };
}

async function authenticated({ accounts }: SignInServices, apiKey: string): Promise<AuthenticatedKey | undefined> {
  if (apiKey === '' || apiKey.length > MAX_API_KEY_CHARACTERS) return undefined;
  const found = await accounts.authenticate(apiKey);
  return typeof found === 'string' ? undefined : found;
}

function showForm(services: SignInServices, before: readonly Section[], status = 200) {
  const form: Section = {
    kind: 'form',
    title: 'By an API key',
    about:
      'The key is sent once. What your browser keeps in its place is of no use to scripts, ends after 12 hours at most, ' +
      'and may do no more than the key.',
    danger: null,
    method: 'post',
    action: SIGN_IN.slice(1),
    fields: [
      {
        name: 'apiKey',
        title: 'API key',
        kind: 'secret',
        choices: [],
        isRequired: true,
        value: '',
        help: null,
        error: null,
        maxLength: MAX_API_KEY_CHARACTERS,
      },
    ],
    hidden: [],
    submit: 'Sign in',
    isDrafted: false,
  };
  return consolePage(services, SIGN_IN, null, {
    title: 'Sign in',
    screen: null,
    sections: [...before, form, MAIL_FORM, STRANGERS],
    status,
  });
}

const STRANGERS: Section = {
  kind: 'links',
  title: 'No key',
  links: [
    { text: 'Sign up', href: 'sign-up' },
    { text: 'Replace a lost key', href: 'lost-key' },
  ],
};

function signOutRoute(services: SignInServices): PageRoute {
  return signedInRoute(services, 'POST', SIGN_OUT, async ({ context }, { signedIn }) => {
    requireToken(context.req, await readFormBody(context.req, BODY), signedIn);
    const { signIn, caller } = signedIn;
    await services.signIns.end(signIn.account, signIn.id, { key: caller.key.id });
    return seeOther(SIGN_OUT, 'console/sign-in', { 'Set-Cookie': services.cookie.cleared });
  });
}
