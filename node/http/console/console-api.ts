import { createServer, type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { text as readToEnd } from 'node:stream/consumers';
import type { Context } from 'koa';
import { parseJson } from '../../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import type { RequestLimits } from '../../accounts/limits/request-limits.ts';
import type { SignedIn } from '../../accounts/sign-ins/sign-ins.ts';
import { type AppOptions, createApp } from '../app.ts';
import { noteAsker, noteCounted } from '../asked-work.ts';
import { isTakenFrom } from '../authentication.ts';
import { actionOf, type Gate, heldAtFirst, type HeldCap, holderOf, noted, requireScope } from '../gate.ts';
import { Problem } from '../problem.ts';
import type { Answer, KeyRoute } from '../route.ts';

/** Nesting of the deepest answer that a screen reads. */
const MAX_ANSWER_DEPTH = 64;

/** Who asks, and from where. */
export interface Asker {
  readonly signedIn: SignedIn;
  readonly address: string;
}

export interface ApiRequest {
  readonly method: KeyRoute['method'];
  /** With its query. */
  readonly path: string;
  readonly body?: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

export interface ConsoleApiOptions extends Pick<
  AppOptions,
  'baseUrl' | 'bounds' | 'log' | 'observe' | 'onRefused' | 'paidGate' | 'routes'
> {
  readonly auditLog: Pick<AuditLog, 'note'>;
  readonly limits: Pick<RequestLimits, 'admit'>;
}

/**
 * The API as the console asks it: the same routes in this process, in the name of whoever is signed in. Nothing reaches
 * it from outside: it listens nowhere, and its connections begin and end here. So what a screen shows is what the API answers to the same person.
 */
export class ConsoleApi implements Gate {
  readonly #options: ConsoleApiOptions;
  /** Who asks over which connection: each carries one call. */
  readonly #askers = new WeakMap<Duplex, Asker>();
  /** It listens nowhere. */
  readonly #server: Server;

  constructor(options: ConsoleApiOptions) {
    this.#options = options;
    this.#server = createServer(createApp({ ...options, gate: this }).callback());
  }

  /** Asks as somebody. Never throws what the API refuses: that is an answer. */
  async ask(asker: Asker, { method, path, body, headers = {} }: ApiRequest): Promise<ApiAnswer> {
    const [near, far] = duplexPair();
    this.#askers.set(far, asker);
    this.#server.emit('connection', far);
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    httpRequest({ method, path, headers: { ...headers, ...type, connection: 'close' }, createConnection: () => near })
      .on('response', resolve)
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
    const response = await promise;
    return { status: response.statusCode ?? 0, body: objectOf(await readToEnd(response)) };
  }

  free(context: Parameters<Gate['free']>[0], _route: unknown, answer: () => Promise<Answer>): Promise<Answer> {
    noteAsker(context.req, holderOf(this.#askerOf(context.req).signedIn.caller.account));
    noteCounted(context.req);
    return answer();
  }

  /**
   * Who looks at a screen was counted once for all that the screen asks; what is written counts as if it was asked for
   * with the key. Throws `LimitError` and `Problem` 403, and what the route throws.
   */
  keyed(...[context, route, answer]: Parameters<Gate['keyed']>): Promise<Answer> {
    const { auditLog } = this.#options;
    const { signedIn, address } = this.#askerOf(context.req);
    const { caller } = signedIn;
    noteAsker(context.req, holderOf(caller.account));
    return noted({ auditLog, context, route, caller, address }, async () => {
      if (!isTakenFrom(signedIn, address)) {
        throw new Problem('scope-forbidden', 'The API key is not taken from this address.');
      }
      const admission = await this.#admit(context, route, caller);
      noteCounted(context.req);
      try {
        requireScope(route.scope, caller);
        return await answer(caller, admission);
      } finally {
        admission.release();
      }
    });
  }

  async #admit(context: Context, route: KeyRoute, { account }: SignedIn['caller']): Promise<HeldCap> {
    if (route.method === 'GET') return NOTHING;
    return this.#options.limits.admit(account, actionOf(route), heldAtFirst(context, route));
  }

  #askerOf(request: IncomingMessage): Asker {
    const asker = this.#askers.get(request.socket);
    if (asker === undefined) throw new RangeError('nobody is signed in who asks this');
    return asker;
  }
}

const NOTHING: HeldCap = {
  release() {},
  reserve: () => Promise.reject(new RangeError('a look at a screen makes no records')),
};

function objectOf(text: string): JsonObject {
  if (text === '') return {};
  const value = parseJson(text, { maxDepth: MAX_ANSWER_DEPTH });
  return isJsonObject(value) ? value : {};
}
