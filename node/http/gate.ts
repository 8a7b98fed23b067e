import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Accounts } from '../accounts/accounts.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import type { Caller } from '../accounts/caller.ts';
import { MAX_API_KEY_CHARACTERS } from '../accounts/key-text.ts';
import type { AuthenticatedKey } from '../accounts/known-keys.ts';
import type { AddressLimits, FreeLimits } from '../accounts/limits/address-limits.ts';
import { type Addresses, addressKey } from '../accounts/limits/client-address.ts';
import { type Holder, OPERATOR } from '../accounts/limits/holder-counts.ts';
import type { Admission, RequestLimits } from '../accounts/limits/request-limits.ts';
import { requestsOf, weightOf } from '../accounts/limits/route-weights.ts';
import { noteAsker, noteCounted } from './asked-work.ts';
import { authenticate, callerAddress, isTakenFrom } from './authentication.ts';
import { checkOnceArrived } from './body-bytes.ts';
import { problemOf } from './domain-problems.ts';
import { Problem, toProblem } from './problem.ts';
import type { Answer, KeyRoute, OperatorRoute, PageRoute, Route } from './route.ts';
import { holdsSecret } from './secret-paths.ts';
import { isFromOwnPage, type SignInCookie } from './sign-in-cookie.ts';

/** When a caller may ask again. In seconds. */
const RETRY_AFTER = { headers: { 'Retry-After': '30' } };

/** Whether the node may sign nothing yet. */
interface Starting {
  readonly pending: boolean;
}

/**
 * What a node answers while it may not sign: whatever anyone may read without a key goes on. All that needs a key, a
 * sign-in, a payment or a link that is a secret is refused with 503: the store may be a copy that does not know that a key or a link
 * was revoked or a payment made.
 */
export function startingGate(gate: Gate, start: Starting): Gate {
  return {
    free: (context, route, answer) =>
      start.pending && (route.method !== 'GET' || holdsSecret(route.path) || needsSignIn(route))
        ? Promise.reject(recovering())
        : gate.free(context, route, answer),
    keyed: (context, route, answer) =>
      start.pending ? Promise.reject(recovering()) : gate.keyed(context, route, answer),
  };
}

/** Whether it is a page that only somebody who is signed in sees. */
export function needsSignIn(route: Route | OperatorRoute | PageRoute): boolean {
  return 'isSignedIn' in route && route.isSignedIn === true;
}

/** The operator's: meanwhile these paths alone are answered. */
export function startingOperatorGate(gate: Gate, start: Starting, openPaths: readonly string[]): Gate {
  return {
    free: (context, route, answer) =>
      start.pending && !openPaths.includes(route.path)
        ? Promise.reject(recovering())
        : gate.free(context, route, answer),
    keyed: gate.keyed,
  };
}

export function recovering(): Problem {
  const detail = 'The node has started and does not know yet how far its chain goes.';
  return new Problem('recovering', detail, RETRY_AFTER);
}

/** What stands between a request and its route: who asks, how often, and what is noted of it. */
export interface Gate {
  free(context: Context, route: OperatorRoute, answer: () => Promise<Answer>): Promise<Answer>;
  keyed(context: Context, route: KeyRoute, answer: KeyedAnswer): Promise<Answer>;
}

/** The route, called with who asks and with what it holds of the daily cap. */
type KeyedAnswer = (caller: Caller, cap: HeldCap) => Promise<Answer>;

/** What a call holds of the daily cap. */
export type HeldCap = Pick<Admission, 'reserve' | 'release'>;

export interface ApiGateOptions {
  readonly accounts: Pick<Accounts, 'authenticate'>;
  readonly limits: Pick<RequestLimits, 'admit'>;
  readonly addresses: Pick<AddressLimits, 'admit'>;
  /** What accounts may ask of free endpoints. */
  readonly freeLimits: Pick<FreeLimits, 'admit'>;
  readonly auditLog: Pick<AuditLog, 'note'>;
  /** Who is signed in at the console: its pages ask by their cookie. */
  readonly cookie: Pick<SignInCookie, 'signedIn'>;
  /** The operator's proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: Addresses;
}

/**
 * The gate of the public API, in the order of api-rules §7.1: key (401), limits (429), scope (403), then the route.
 *
 * A key that comes from an address it is not taken from is bounded as a stranger is, so that whoever got hold of it can
 * neither use up its account's requests nor fill its log; that it was tried stands in the log. So is a key that is
 * none.
 */
export class ApiGate implements Gate {
  readonly #options: ApiGateOptions;

  constructor(options: ApiGateOptions) {
    this.#options = options;
  }

  /**
   * A valid key takes its caller off the limit of its address, and onto its account's. Throws what `answer` throws, and
   * `LimitError`.
   */
  async free(context: Context, route: OperatorRoute, answer: () => Promise<Answer>): Promise<Answer> {
    if (route.limited !== false) {
      const { addresses, freeLimits } = this.#options;
      const address = this.#addressOf(context);
      const requests = requestsOf(weightOf(route));
      const account = await this.#accountOf(context, address);
      noteAsker(context.req, account === null ? strangerAt(address) : holderOf(account));
      if (account === null) addresses.admit(address, requests);
      else freeLimits.admit(account, requests);
      noteCounted(context.req);
    }
    return answer();
  }

  /**
   * The key is looked at again once the body is here: one that ended while it arrived records and changes nothing. Throws
   * what `answer` throws, `LimitError`, and `Problem` 401 and 403.
   */
  async keyed(context: Context, route: KeyRoute, answer: KeyedAnswer): Promise<Answer> {
    const { addresses, limits, auditLog } = this.#options;
    const address = this.#addressOf(context);
    const found = await this.#authenticate(context, route, address);
    const { caller } = found;
    const isElsewhere = !isTakenFrom(found, address);
    noteAsker(context.req, isElsewhere ? strangerAt(address) : holderOf(caller.account));
    if (isElsewhere) addresses.admit(address);
    return noted({ auditLog, context, route, caller, address }, async () => {
      requireTaken(found, address);
      const admission = await limits.admit(caller.account, actionOf(route), heldAtFirst(context, route));
      noteCounted(context.req);
      try {
        requireScope(route.scope, caller);
        checkOnceArrived(context.req, () => this.#requireStill(context, route, address));
        return await answer(caller, admission);
      } finally {
        admission.release();
        setAll(context, admission.headers());
      }
    });
  }

  /** Anyone who tries keys that are none is bounded by its address. Throws `Problem` 401, and `LimitError`. */
  async #authenticate(context: Context, { method }: KeyRoute, address: string): Promise<AuthenticatedKey> {
    const { accounts, addresses } = this.#options;
    const signedIn = method === 'GET' && isFromOwnPage(context.req) ? await this.#signedIn(context) : undefined;
    if (signedIn !== undefined) return signedIn;
    try {
      return await authenticate(accounts, context);
    } catch (error) {
      noteAsker(context.req, strangerAt(address));
      if (context.get('x-api-key') !== '') addresses.admit(address);
      throw error;
    }
  }

  /** Throws what is thrown of a key that comes with its request now. */
  async #requireStill(context: Context, { scope }: KeyRoute, address: string): Promise<void> {
    const found = await authenticate(this.#options.accounts, context);
    requireTaken(found, address);
    requireScope(scope, found.caller);
  }

  /** Who is signed in and asks without a key; a key that comes along says who asks, whatever the cookie says. */
  async #signedIn(context: Context): Promise<AuthenticatedKey | undefined> {
    return context.get('x-api-key') === '' ? this.#options.cookie.signedIn(context.req) : undefined;
  }

  /** Whose key or sign-in came along and is taken from there; null where none is. */
  async #accountOf(context: Context, address: string): Promise<Caller['account'] | null> {
    const apiKey = context.get('x-api-key');
    if (apiKey.length > MAX_API_KEY_CHARACTERS) return null;
    const found =
      apiKey === ''
        ? ((await this.#signedIn(context)) ?? 'unknown')
        : await this.#options.accounts.authenticate(apiKey);
    return typeof found !== 'string' && isTakenFrom(found, address) ? found.caller.account : null;
  }

  #addressOf(context: Context): string {
    return callerAddress(context.req, this.#options.trustedProxies);
  }
}

/** A call in somebody's name, and where it came from. */
export interface NamedCall {
  readonly auditLog: Pick<AuditLog, 'note'>;
  readonly context: Context;
  readonly route: KeyRoute;
  readonly caller: Caller;
  readonly address: string;
}

/** Answers a call, and notes in the account's log what came of it. Throws what `answer` throws, as `Problem`. */
export async function noted(
  { auditLog, context, route, caller, address }: NamedCall,
  answer: () => Promise<Answer>,
): Promise<Answer> {
  let status = 500;
  let subject: string | null = null;
  try {
    const answered = await answer();
    status = answered.status ?? 200;
    subject = subjectOf(answered, context);
    return answered;
  } catch (thrown) {
    const problem = toProblem(problemOf(thrown));
    status = problem.status;
    throw problem;
  } finally {
    const requestId = String(context.response.get('x-request-id'));
    auditLog.note(caller.account.id, {
      action: actionOf(route),
      address,
      by: caller.key.id,
      requestId,
      status,
      subject,
    });
  }
}

/**
 * Records for which a call holds room before its body is read. One with an `Idempotency-Key` may be a repeat, which is
 * answered also where the day has no room: it asks for room once it is known to record.
 */
export function heldAtFirst(context: Context, { records = 0 }: KeyRoute): number | 'later' {
  return records > 0 && context.get('idempotency-key') !== '' ? 'later' : records;
}

/** A call as limits and the log name it. */
export function actionOf({ method, path }: Pick<KeyRoute, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** The gate of the operator's socket, whose file mode says who may speak. */
export const operatorGate: Gate = {
  free(context, _route, answer) {
    noteAsker(context.req, OPERATOR);
    return answer();
  },
  keyed: () => Promise.reject(new Problem('route-not-found', 'The operator has no API key.')),
};

/** Anyone who is at an address and shows no key that is taken from there. */
export function strangerAt(address: string): Holder {
  return { kind: 'address', id: addressKey(address) };
}

export function holderOf({ id }: Caller['account']): Holder {
  return { kind: 'account', id };
}

/** Throws `Problem` 403. */
function requireTaken(found: AuthenticatedKey, address: string): void {
  if (isTakenFrom(found, address)) return;
  throw new Problem('scope-forbidden', 'The API key is not taken from this address.');
}

/** Throws `Problem` 403. */
export function requireScope(scope: KeyRoute['scope'], { key }: Pick<Caller, 'key'>): void {
  if (scope === null || key.scopes.includes(scope)) return;
  throw new Problem('scope-forbidden', `The API key lacks the scope ${scope}.`, { extra: { scope } });
}

/** What a request was about: the record that it made, or the id in its path. */
function subjectOf(
  { body }: Answer,
  { params }: Context & { params?: Readonly<Record<string, string>> },
): string | null {
  const isText = typeof body === 'string' || body instanceof Uint8Array || body instanceof Readable;
  const made = isText ? undefined : body.attestationId;
  return typeof made === 'string' ? made : (params?.id ?? null);
}

function setAll(context: Context, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) context.set(name, headers[name] ?? '');
}
