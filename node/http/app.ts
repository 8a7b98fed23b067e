import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import Router, { type RouterContext } from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import type { Logger } from 'pino';
import {
  PAYMENT_REQUIRED_HEADER,
  PAYMENT_RESPONSE_HEADER,
  PAYMENT_SIGNATURE_HEADER,
} from '../../protocol/payments/header.ts';
import type { UncountedLimits } from '../accounts/limits/address-limits.ts';
import type { Addresses } from '../accounts/limits/client-address.ts';
import type { Holder, HolderKind } from '../accounts/limits/holder-counts.ts';
import type { Refusal } from '../accounts/limits/refusals.ts';
import { weightOf } from '../accounts/limits/route-weights.ts';
import { type AskedWork, askedWork, askerOf, noteClass } from './asked-work.ts';
import { callerAddress, KEY_CHALLENGE, UNAUTHENTICATED } from './authentication.ts';
import { discard } from './body-bytes.ts';
import { Compressor, type Encoding, ENCODINGS, MIN_COMPRESSED_BYTES } from './compression.ts';
import { problemOf } from './domain-problems.ts';
import { bodyHash, entityTag, heldTag } from './entity-tag.ts';
import { type Gate, needsSignIn, strangerAt } from './gate.ts';
import type { PaidGate } from './paid-gate.ts';
import { queryOf } from './query.ts';
import { Problem, PROBLEM_CONTENT_TYPE, problemBody, toProblem } from './problem.ts';
import type { Answer, Call, OperatorRoute, Route } from './route.ts';
import { holdsSecret, SecretPaths, SECRET_PATH_HEADERS } from './secret-paths.ts';
import { WorkBounds } from './work-bounds.ts';

/** What compresses well: JSON and text. Hashes and signatures in bytes do not. */
const COMPRESSED_TYPE = /^(?:application\/(?:[a-z0-9.+-]+\+)?json$|text\/)/;
const NOT_STORED = /\bno-store\b/;
/** Longest list of encodings that is read; no client sends as much. In characters. */
const MAX_ACCEPTED = 256;

/**
 * Whether anyone may read what a route answers. Only that is compressed: beside what a stranger chose, the length of a
 * compressed answer would tell of what else is in it (BREACH), and answers to keys, payments, links that are secrets and
 * people who are signed in hold what is others' or secret; the operator's hold API keys.
 */
export function isPublic(route: Route | OperatorRoute): boolean {
  const isShown = 'documentation' in route || ('isPage' in route && !needsSignIn(route));
  return route.access === 'free' && isShown && !holdsSecret(route.path);
}

/** Sends an answer as the route gave it. */
function sendPlain(context: Context, { status = 200, headers = {}, body }: Answer): void {
  context.status = status;
  for (const [name, value] of Object.entries(headers)) context.set(name, value);
  context.body = body instanceof Uint8Array ? bufferOf(body) : body;
}

/**
 * Sends an answer that anyone may read: with a strong `ETag` where caches may keep it, 304 to who holds it, and
 * compressed for who takes that. A HEAD is answered with the headers of a GET.
 */
async function sendPublic(context: Context, answer: Answer, compressor: Compressor): Promise<void> {
  const { status = 200, headers = {}, body } = answer;
  if (status !== 200 || body instanceof Readable) return sendPlain(context, answer);
  context.status = status;
  for (const [name, value] of Object.entries(headers)) context.set(name, value);
  if (context.response.type === '') context.type = typeOf(body);
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const hash = isKept(context) ? (answer.bodyHash ?? bodyHash(bytes)) : null;
  const isCompressible = bytes.byteLength > MIN_COMPRESSED_BYTES && COMPRESSED_TYPE.test(context.response.type);
  if (isCompressible) context.vary('Accept-Encoding');
  if (hash !== null) {
    const held = heldTag(context.get('If-None-Match'), hash, isCompressible ? ENCODINGS : []);
    if (held !== null) {
      context.set('ETag', held);
      context.status = 304;
      return;
    }
  }
  const encoding = isCompressible ? acceptedEncoding(context) : null;
  const compressed = encoding === null ? null : await compressor.compress(bytes, encoding, hash);
  if (encoding !== null && compressed !== null) context.set('Content-Encoding', encoding);
  if (hash !== null) context.set('ETag', entityTag(hash, compressed === null ? null : encoding));
  context.body = bufferOf(compressed ?? bytes);
}

function typeOf(body: Answer['body']): string {
  if (body instanceof Uint8Array) return 'bin';
  return typeof body === 'string' ? 'text' : 'json';
}

/** Whether a cache may keep the answer: its route says so, and for how long. */
function isKept({ method, response }: Context): boolean {
  const control = response.headers['cache-control'];
  return (method === 'GET' || method === 'HEAD') && typeof control === 'string' && !NOT_STORED.test(control);
}

function acceptedEncoding(context: Context): Encoding | null {
  const header = context.get('Accept-Encoding');
  if (header === '' || header.length > MAX_ACCEPTED) return null;
  const accepted = context.acceptsEncodings(...ENCODINGS, 'identity');
  return ENCODINGS.find((encoding) => encoding === accepted) ?? null;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

interface UncountedAnswersOptions {
  readonly uncounted: Pick<UncountedLimits, 'take'>;
  /** The operator's proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: Addresses;
  /** Told of anyone who is made to wait. Must not throw. */
  readonly onPaced: (holder: Holder) => void;
}

/** Who answers for a call wherever it comes from. */
const KNOWN_HOLDERS: ReadonlySet<HolderKind> = new Set(['account', 'wallet']);

/**
 * Slows down anyone who makes a node answer again and again what no limit counts: refusals, keys and paths that do not
 * exist, the health. Each such answer is cheap, and a few hundred connections on which one follows the other at once
 * would keep the event loop from everybody else: past so many a second of an address, an account or a wallet each waits
 * for its turn.
 */
export class UncountedAnswers {
  readonly #options: UncountedAnswersOptions;

  constructor(options: UncountedAnswersOptions) {
    this.#options = options;
  }

  /**
   * To be awaited before an answer is sent: resolves when it may be, at once for what a limit has counted. `refused`:
   * whom.
   */
  async pace(context: Context, refused: Holder = askerOf(context.req)): Promise<void> {
    const asked = askedWork(context.req);
    if (asked.isCounted) return;
    const { trustedProxies, onPaced } = this.#options;
    const stranger = strangerAt(callerAddress(context.req, trustedProxies));
    const ofAddress = this.#wait(stranger, asked);
    const ofHolder = KNOWN_HOLDERS.has(refused.kind) ? this.#wait(refused, asked) : 0;
    const wait = Math.max(ofAddress, ofHolder);
    if (wait === 0) return;
    onPaced(ofHolder > ofAddress ? refused : stranger);
    await pause(wait, context);
  }

  /** Who asks after the health is counted apart: a monitor waits for nothing else that its address is answered. */
  #wait({ kind, id }: Holder, { class: of }: AskedWork): number {
    return this.#options.uncounted.take(of === 'health' ? `${of}/${kind}/${id}` : `${kind}/${id}`);
  }
}

/** Ends early where the caller has gone. */
async function pause(milliseconds: number, { res }: Context): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  res.once('close', resolve);
  await promise;
  clearTimeout(timer);
  res.off('close', resolve);
}

/** What a page of another origin may read of an answer beside its body. */
const EXPOSED = ['X-Request-Id', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].join(', ');
/**
 * What it may read of the answer to a paid call, and what it may send with one. Stock clients send the last of these.
 */
const PAID_EXPOSED = `${PAYMENT_REQUIRED_HEADER}, ${PAYMENT_RESPONSE_HEADER}, Payment-Replayed, ${EXPOSED}`;
const PAID_ALLOWED = `Content-Type, X-Request-Id, ${PAYMENT_SIGNATURE_HEADER}, Access-Control-Expose-Headers`;
const ALLOWED = 'Content-Type, X-Request-Id';
/** How long a browser may remember what it was told of a route. In seconds. */
const PREFLIGHT_AGE = 86_400;

/**
 * Whether pages of any origin may call a route (Fetch §3.2): what needs no key and changes nothing, and what is paid.
 */
function isOpenToPages(route: Route | OperatorRoute): boolean {
  if (route.access === 'paid') return true;
  return 'documentation' in route && route.access === 'free' && (route.crossOrigin ?? route.method === 'GET');
}

/** Lets the page that made a request read its answer, a refusal too. No cookie or credential is ever taken from it. */
function allowPages(context: Context, { access }: Pick<Route, 'access'>): void {
  context.set('Access-Control-Allow-Origin', '*');
  context.set('Access-Control-Expose-Headers', access === 'paid' ? PAID_EXPOSED : EXPOSED);
}

/** Answers the question that a browser asks before it sends JSON, or a header of its own. */
function mountPreflight(router: Router, path: string, route: Pick<Route, 'method' | 'access'>): void {
  router.options(path, (context) => {
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Access-Control-Allow-Methods', route.method);
    context.set('Access-Control-Allow-Headers', route.access === 'paid' ? PAID_ALLOWED : ALLOWED);
    context.set('Access-Control-Max-Age', String(PREFLIGHT_AGE));
    context.status = 204;
  });
}

export interface AppOptions {
  readonly gate: Gate;
  /** What stands before paid routes. Needed where there are any. */
  readonly paidGate?: Pick<PaidGate, 'answer'>;
  readonly routes: readonly (Route | OperatorRoute)[];
  /** Public address of the node as the roster in force has it, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly log: Logger;
  /** Told of every answer: route pattern, status, seconds. */
  readonly observe: (method: string, route: string, status: number, seconds: number) => void;
  /** Default: the bounds of the table. */
  readonly bounds?: WorkBounds;
  /** Slows down anyone who asks again and again for what no limit counts. Default: nobody. */
  readonly uncounted?: Pick<UncountedAnswers, 'pace'>;
  /** Told of every answer 429 and 503. */
  readonly onRefused?: (refusal: Refusal) => void;
}

interface Mounting extends AppOptions {
  readonly compressor: Compressor;
  readonly bounds: WorkBounds;
  readonly exact: ExactRoutes;
}

/** The API is mounted at the root and below the `/verify` that public node addresses end in. */
const PREFIXES = ['', '/verify'];
/** A node without a payment service was set up so; it may have one after its next start. In seconds. */
const NO_PAYMENTS = { headers: { 'Retry-After': '3600' }, expected: true };
/** Statuses of work that is refused now and may be asked for again. */
const REFUSED: ReadonlySet<number> = new Set([429, 503]);
/** Of a path that stands for many. */
const PARAMETER = /[:*]/;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Answers of routes without parameters, by method and path: most calls name one, and find it without trying the others.
 */
type ExactRoutes = Map<string, (context: Context) => Promise<void>>;

/** The node's HTTP API: routes in, answers or RFC 9457 problems out, and nothing else. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  const router = new Router({ sensitive: true });
  const { bounds = new WorkBounds() } = options;
  const exact: ExactRoutes = new Map();
  const paths = new SecretPaths(PREFIXES.flatMap((prefix) => options.routes.map(({ path }) => prefix + path)));
  const mounting = { ...options, compressor: new Compressor(), bounds, exact };
  for (const prefix of PREFIXES) for (const route of options.routes) mount(router, prefix, route, mounting);
  app.on('error', (error: Error) => {
    if (!isGone(error)) options.log.error({ err: error }, 'the HTTP server met an error');
  });
  app.use((context, next) => answerErrors(options, paths, context, next));
  app.use((context, next) => exact.get(`${context.method} ${context.path}`)?.(context) ?? next());
  app.use(router.routes());
  app.use((context) => {
    throw notRouted(router, paths, context);
  });
  return app;
}

function mount(router: Router, prefix: string, route: Route | OperatorRoute, options: Mounting): void {
  const { compressor, bounds, exact } = options;
  // A payment names the one address of what it pays for.
  if (route.access === 'paid' && prefix !== '') return;
  const open = isOpenToPages(route);
  const { class: of } = weightOf(route);
  // Compressing waits for a thread, and the health of the node is told whatever the threads do.
  const isPlain = !isPublic(route) || of === 'health';
  const answer = async (context: Context, params: RouterContext['params']): Promise<void> => {
    noteClass(context.req, of);
    if (open) allowPages(context, route);
    const enter = () => bounds.enter(of, askerOf(context.req));
    const answered = await answerOf(options, route, new RoutedCall({ context, params, enter, ...NOTHING_HELD_OF_CAP }));
    if (isPlain) sendPlain(context, answered);
    else await sendPublic(context, answered, compressor);
  };
  // With a slash at its end and without one.
  const path = prefix !== '' && route.path === '/' ? prefix : prefix + route.path;
  const routed = (context: RouterContext): Promise<void> => answer(context, context.params);
  router.register(path, [route.method], routed);
  if (!PARAMETER.test(path)) {
    exact.set(`${route.method} ${path}`, (context) => {
      context._matchedRoute = path;
      return answer(context, {});
    });
  }
  if (open) mountPreflight(router, path, route);
}

/**
 * Anyone who answers for a call is known before a place is taken, and a place is taken before any of a body is read.
 */
async function answerOf({ gate, paidGate }: Mounting, route: Route | OperatorRoute, call: RoutedCall): Promise<Answer> {
  const { context } = call;
  if (route.access === 'free') {
    return gate.free(context, route, async () => inPlace(await call.enter(), () => route.answer(call)));
  }
  const { withoutKey } = route.access === 'key' ? route : {};
  const { headers } = context.req;
  // A header with nothing in it, and one of another name, is a key that is none: its sender is told so.
  const isKeyless = headers['x-api-key'] === undefined && headers.authorization === undefined;
  if (withoutKey !== undefined && isKeyless) {
    const free = { ...route, access: 'free', answer: withoutKey } as const;
    return gate.free(context, free, async () => inPlace(await call.enter(), () => withoutKey(call)));
  }
  if (route.access === 'key') {
    return gate.keyed(context, route, async (caller, cap) => {
      const place = await call.enter();
      const counted = (): void => {
        cap.release();
        place[Symbol.dispose]();
      };
      const reserve = (records: number) => cap.reserve(records);
      return inPlace(place, () => route.answer(call.holding({ counted, reserve }), caller));
    });
  }
  if (paidGate === undefined) throw new Problem('payment-unavailable', 'This node takes no payments.', NO_PAYMENTS);
  return paidGate.answer(call, route);
}

/** Holds a place until the answer is there, and where that is a stream, until it has been sent or given up. */
async function inPlace(place: Disposable, work: () => Promise<Answer>): Promise<Answer> {
  let isSending = false;
  try {
    const answer = await work();
    if (answer.body instanceof Readable && !answer.body.closed) {
      isSending = true;
      answer.body.once('close', () => place[Symbol.dispose]());
    }
    return answer;
  } finally {
    if (!isSending) place[Symbol.dispose]();
  }
}

async function answerErrors(options: AppOptions, paths: SecretPaths, context: Context, next: Next): Promise<void> {
  const { baseUrl, log, observe } = options;
  const started = performance.now();
  const requestId = requestIdOf(context);
  context.set('X-Request-Id', requestId);
  context.set('X-Content-Type-Options', 'nosniff');
  // Answers differ by key and by payment, which no cache knows, and change: a route says where one may be kept.
  context.set('Cache-Control', 'no-store');
  const path = paths.shown(context.path);
  if (path !== context.path) context.set(SECRET_PATH_HEADERS);
  let refusal: Refusal | null = null;
  try {
    await next();
  } catch (thrown) {
    const problem = toProblem(problemOf(thrown));
    discard(context.req);
    refusal = refusalOf(problem, context);
    if (refusal !== null) options.onRefused?.(refusal);
    if (problem.isFault) {
      log.error({ err: problem.cause ?? problem, requestId, path }, problem.detail);
    }
    context.status = problem.status;
    for (const [name, value] of Object.entries(problem.headers)) context.set(name, value);
    const refused = refusal === null ? {} : { refused: { class: refusal.class, holder: refusal.holder.kind } };
    const occurrence = { baseUrl: baseUrl(), instance: path, requestId, ...refused };
    context.body = JSON.stringify(problemBody(problem, occurrence));
    context.type = PROBLEM_CONTENT_TYPE;
  }
  if (context.status === UNAUTHENTICATED) context.set('WWW-Authenticate', KEY_CHALLENGE);
  await options.uncounted?.pace(context, refusal?.holder);
  observe(context.method, routeOf(context), context.status, (performance.now() - started) / 1000);
}

/** Null where the answer is no refusal of work: only 429 and 503 tell to come again. */
function refusalOf({ status, code, holder, reason }: Problem, { req }: Context): Refusal | null {
  if (!REFUSED.has(status)) return null;
  const asked = askedWork(req);
  return { class: asked.class ?? 'none', holder: holder ?? asked.holder, reason: reason ?? code };
}

/** The caller's own id where it sent a plain one, else a fresh one. */
function requestIdOf(context: Context): string {
  const given = context.get('x-request-id');
  return REQUEST_ID.test(given) ? given : `req_${randomUUID()}`;
}

function routeOf(context: Context): string {
  const matched: unknown = context._matchedRoute;
  return typeof matched === 'string' ? matched : 'none';
}

function notRouted(router: Router, paths: SecretPaths, context: Context): Problem {
  const allowed = new Set(router.match(context.path, context.method).path.flatMap((layer) => layer.methods));
  if (allowed.size === 0) return new Problem('route-not-found', `There is no ${paths.shown(context.path)} here.`);
  return new Problem('method-not-allowed', `${context.method} is not allowed here.`, {
    headers: { Allow: [...allowed].join(', ') },
  });
}

type HeldOfCap = Pick<Call, 'counted' | 'reserve'>;

/** Only calls with a key are capped. */
const NOTHING_HELD_OF_CAP: HeldOfCap = {
  counted: () => undefined,
  reserve: () => Promise.reject(new RangeError('only calls with a key are capped')),
};

/** A call as its route gets it. The query is read where a route asks for it: to the others it is nothing. */
class RoutedCall implements Call {
  readonly context: Context;
  readonly params: Call['params'];
  readonly enter: Call['enter'];
  readonly counted: Call['counted'];
  readonly reserve: Call['reserve'];

  constructor({ context, params, enter, counted, reserve }: Omit<Call, 'query'>) {
    this.context = context;
    this.params = params;
    this.enter = enter;
    this.counted = counted;
    this.reserve = reserve;
  }

  /** Throws `Problem` `invalid-field`. */
  get query(): URLSearchParams {
    return queryOf(this.context.search);
  }

  /** The same for a caller who holds something of the daily cap. */
  holding({ counted, reserve }: HeldOfCap): Call {
    const { context, params, enter } = this;
    return new RoutedCall({ context, params, enter, counted, reserve });
  }
}

/** A peer that closes its connection is no fault of the server's. */
const GONE: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ECANCELED', 'ERR_STREAM_PREMATURE_CLOSE']);

function isGone(error: Error): boolean {
  return 'code' in error && GONE.has(error.code);
}
