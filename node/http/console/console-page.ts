import type { Context } from 'koa';
import type { NodeId } from '../../../protocol/ids.ts';
import { formToken } from '../../accounts/sign-ins/sign-in-table.ts';
import type { SignedIn } from '../../accounts/sign-ins/sign-ins.ts';
import { type Addresses } from '../../accounts/limits/client-address.ts';
import type { ScreenName, Section, TextSection } from '../../pages/console-page.ts';
import type { Root } from '../../pages/page.ts';
import type { Pages } from '../../pages/pages.ts';
import { callerAddress } from '../authentication.ts';
import { checkOnceArrived } from '../body-bytes.ts';
import { CONSOLE_HEADERS, pageAnswer } from '../pages/page-answer.ts';
import { Problem } from '../problem.ts';
import type { Answer, Call, PageRoute } from '../route.ts';
import type { SignInCookie } from '../sign-in-cookie.ts';
import type { Asker } from './console-api.ts';
import { ApiRefusal } from './screen.ts';

const ROOTS: readonly Root[] = ['./', '../', '../../', '../../../'];

export interface ConsolePageServices {
  readonly self: NodeId;
  readonly pages: Pick<Pages, 'files'>;
  readonly cookie: SignInCookie;
  readonly trustedProxies: Addresses;
}

/** What a page of the console shows, and where it stands in the navigation. */
export interface ConsoleContent {
  readonly title: string;
  readonly screen: ScreenName | null;
  readonly sections: readonly Section[];
  readonly status?: number;
}

/** The way up from a page of this path to the public root. Throws where a page stands deeper than pages do. */
export function rootOf(path: string): Root {
  const root = ROOTS[path.split('/').length - 2];
  if (root === undefined) throw new RangeError(`${path} stands too deep`);
  return root;
}

/** A page of the console, drawn. `signedIn`: null before anybody is. */
export function consolePage(
  { self, pages }: ConsolePageServices,
  path: string,
  signedIn: SignedIn | null,
  { title, screen, sections, status = 200 }: ConsoleContent,
): Promise<Answer> {
  const page = {
    name: 'console',
    title,
    node: self,
    signedIn:
      signedIn === null
        ? null
        : {
            account: signedIn.caller.account.id,
            key: signedIn.caller.key.id,
            until: signedIn.signIn.expiresAt,
            token: formToken(signedIn.secret),
            screen,
          },
    sections,
  } as const;
  return pageAnswer(pages, page, rootOf(path), { status, headers: CONSOLE_HEADERS });
}

/** Sends a browser to another page with GET. `to`: below the public root. */
export function seeOther(path: string, to: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 303, headers: { ...CONSOLE_HEADERS, ...headers, Location: `${rootOf(path)}${to}` }, body: '' };
}

/** A page that everybody sees. */
export function openRoute(method: 'GET' | 'POST', path: string, answer: PageRoute['answer']): PageRoute {
  return { method, path, access: 'free', isPage: true, answer };
}

/** A page that only somebody who is signed in sees; everybody else is shown the way in. */
export function signedInRoute(
  services: ConsolePageServices,
  method: 'GET' | 'POST',
  path: string,
  show: (call: Call, asker: Asker) => Promise<Answer>,
): PageRoute {
  return {
    method,
    path,
    access: 'free',
    isPage: true,
    isSignedIn: true,
    async answer(call) {
      const { context } = call;
      const signedIn = await services.cookie.signedIn(context.req);
      if (signedIn === undefined) return seeOther(path, 'console/sign-in');
      checkOnceArrived(context.req, () => requireSignedIn(services, context));
      const asker = { signedIn, address: addressOf(services, context) };
      try {
        return await show(call, asker);
      } catch (error) {
        if (!(error instanceof ApiRefusal || error instanceof Problem)) throw error;
        const sections = [refused(error)];
        return consolePage(services, path, signedIn, {
          title: 'Not shown',
          screen: null,
          sections,
          status: error.status,
        });
      }
    },
  };
}

/** Throws `Problem` 401 where the sign-in of a request has ended meanwhile. */
async function requireSignedIn({ cookie }: ConsolePageServices, { req }: Context): Promise<void> {
  if ((await cookie.signedIn(req)) === undefined) throw new Problem('api-key-revoked', 'The sign-in has ended.');
}

export function addressOf({ trustedProxies }: Pick<ConsolePageServices, 'trustedProxies'>, { req }: Context): string {
  return callerAddress(req, trustedProxies);
}

/** What stands in the place of what the API said no to. */
export function refused({ message }: Error, title: string | null = null): TextSection {
  return { kind: 'text', title, tone: 'bad', paragraphs: [`▲ ${message}`], copy: null };
}
