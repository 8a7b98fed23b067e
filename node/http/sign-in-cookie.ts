import type { IncomingMessage } from 'node:http';
import { SIGN_IN_HOURS } from '../../protocol/api/sign-ins.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedIn, SignIns } from '../accounts/sign-ins/sign-ins.ts';

const MAX_AGE_SECONDS = SIGN_IN_HOURS * 3600;
/** Where a browser says that a request comes from (Fetch Metadata): the page's own node, or the address line. */
const OWN_SITES: ReadonlySet<unknown> = new Set(['same-origin', 'none']);

export interface SignInCookieOptions {
  readonly node: NodeId;
  /** The node's public address. */
  readonly baseUrl: () => string;
  readonly signIns: Pick<SignIns, 'find'>;
}

/**
 * The cookie of a sign-in (RFC 6265): named after the node, since cookies of one host know no ports, and under https
 * bound to this very host (`__Host-`).
 */
export class SignInCookie {
  readonly #options: SignInCookieOptions;

  constructor(options: SignInCookieOptions) {
    this.#options = options;
  }

  /** Who is signed in and asks; undefined where nobody is. Of two cookies of the name the first counts. */
  async signedIn({ headers }: IncomingMessage): Promise<SignedIn | undefined> {
    if (headers.cookie === undefined) return undefined;
    const begin = `${this.#name}=`;
    const pair = headers.cookie.split(';').find((one) => one.trim().startsWith(begin));
    return pair === undefined ? undefined : this.#options.signIns.find(pair.trim().slice(begin.length));
  }

  /** What has a browser keep a secret. */
  set(secret: string): string {
    return `${this.#name}=${secret}; Max-Age=${MAX_AGE_SECONDS}; ${this.#attributes}`;
  }

  /** What has a browser forget it. */
  get cleared(): string {
    return `${this.#name}=; Max-Age=0; ${this.#attributes}`;
  }

  get #isSecure(): boolean {
    return this.#options.baseUrl().startsWith('https:');
  }

  get #name(): string {
    return `${this.#isSecure ? '__Host-' : ''}meridian_session_${this.#options.node}`;
  }

  get #attributes(): string {
    return `Path=/; HttpOnly; SameSite=Strict${this.#isSecure ? '; Secure' : ''}`;
  }
}

/** Whether a page of this node asks, or a person by the address line, and no page of another origin. */
export function isFromOwnPage({ headers }: IncomingMessage): boolean {
  return OWN_SITES.has(headers['sec-fetch-site']);
}

/** Whether a form of a page of this node was sent. */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'same-origin';
}
