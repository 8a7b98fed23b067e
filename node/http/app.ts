import { randomUUID } from 'node:crypto';
import Router, { type RouterContext } from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import type { Logger } from 'pino';
import { Readable } from 'node:stream';
import type { Refusal } from '../accounts/limits/refusals.ts';
import { weightOf } from '../accounts/limits/route-weights.ts';
import { askedWork, askerOf, noteClass } from './asked-work.ts';
import { discard } from './body-bytes.ts';
import { allowPages, isOpenToPages, mountPreflight } from './cross-origin.ts';
import { Compressor } from './compression.ts';
import { isPublic, sendPlain, sendPublic } from './delivery.ts';
import { problemOf } from './domain-problems.ts';
import type { Gate } from './gate.ts';
import type { PaidGate } from './paid-gate.ts';
import { PROBLEM_CONTENT_TYPE, Problem, problemBody, toProblem } from './problem.ts';
import type { Answer, Call, OperatorRoute, Route } from './route.ts';
import type { UncountedAnswers } from './uncounted-answers.ts';
import { WorkBounds } from './work-bounds.ts';

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
  /** Slows down whoever asks again and again for what no limit counts. Default: nobody. */
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
/** That a node has no till is how it was set up; it may get one when it is started anew. In seconds. */
const NO_PAYMENTS = { headers: { 'Retry-After': '3600' }, expected: true };
/** Statuses of work that is refused now and may be asked for again. */
const REFUSED: ReadonlySet<number> = new Set([429, 503]);
/** Of a path that stands for many. */
const PARAMETER = /[:*]/;
/** Of a path that is a secret itself. */
const SECRET_PARAMETER = /:token\b/;
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Answers of routes without parameters, by method and path: most calls name one, and find it without trying the others. */
type ExactRoutes = Map<string, (context: Context) => Promise<void>>;

/** The node's HTTP face: routes in, answers or RFC 9457 problems out, and nothing else. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  const router = new Router({ sensitive: true });
  const { bounds = new WorkBounds() } = options;
  const exact: ExactRoutes = new Map();
  const mounting = { ...options, compressor: new Compressor(), bounds, exact };
  for (const prefix of PREFIXES) for (const route of options.routes) mount(router, prefix, route, mounting);
  app.on('error', (error: Error) => {
    if (!isGone(error)) options.log.error({ err: error }, 'the HTTP server met an error');
  });
  app.use((context, next) => answerErrors(options, context, next));
  app.use((context, next) => exact.get(`${context.method} ${context.path}`)?.(context) ?? next());
  app.use(router.routes());
  app.use((context) => {
    throw notRouted(router, context);
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
    const call = {
      context,
      params,
      query: new URLSearchParams(context.search),
      counted: nothing,
      reserve: noReserve,
      enter,
    };
    const answered = await answerOf(options, route, call);
    if (isPlain) sendPlain(context, answered);
    else await sendPublic(context, answered, compressor);
  };
  const path = prefix + route.path;
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

/** Whoever answers for a call is known before a place is taken, and a place is taken before any of a body is read. */
async function answerOf({ gate, paidGate }: Mounting, route: Route | OperatorRoute, call: Call): Promise<Answer> {
  const { context } = call;
  if (route.access === 'free') {
    return gate.free(context, route, async () => inPlace(await call.enter(), () => route.answer(call)));
  }
  if (route.access === 'key') {
    return gate.keyed(context, route, async (caller, cap) => {
      const place = await call.enter();
      const counted = (): void => {
        cap.release();
        place[Symbol.dispose]();
      };
      const reserve = (records: number) => cap.reserve(records);
      return inPlace(place, () => route.answer({ ...call, counted, reserve }, caller));
    });
  }
  if (paidGate === undefined) throw new Problem('payment-unavailable', 'This node takes no payments.', NO_PAYMENTS);
  return paidGate.answer(call, route);
}

/** Holds a place until the answer is there, and where that is a stream, until it has been sent or given up. */
async function inPlace(place: Disposable, work: () => Promise<Answer>): Promise<Answer> {
  using holding = new DisposableStack();
  holding.use(place);
  const answer = await work();
  if (answer.body instanceof Readable && !answer.body.closed) {
    const held = holding.move();
    answer.body.once('close', () => held.dispose());
  }
  return answer;
}

async function answerErrors(options: AppOptions, context: Context, next: Next): Promise<void> {
  const { baseUrl, log, observe } = options;
  const started = performance.now();
  const requestId = requestIdOf(context);
  context.set('X-Request-Id', requestId);
  context.set('X-Content-Type-Options', 'nosniff');
  // Answers differ by key and by payment, which no cache knows, and change: a route says where one may be kept.
  context.set('Cache-Control', 'no-store');
  let refusal: Refusal | null = null;
  try {
    await next();
  } catch (thrown) {
    const problem = toProblem(problemOf(thrown));
    discard(context.req);
    refusal = refusalOf(problem, context);
    if (refusal !== null) options.onRefused?.(refusal);
    if (problem.isFault) {
      log.error({ err: problem.cause ?? problem, requestId, path: loggedPath(context) }, problem.detail);
    }
    context.status = problem.status;
    for (const [name, value] of Object.entries(problem.headers)) context.set(name, value);
    const refused = refusal === null ? {} : { refused: { class: refusal.class, holder: refusal.holder.kind } };
    const occurrence = { baseUrl: baseUrl(), instance: context.path, requestId, ...refused };
    context.body = JSON.stringify(problemBody(problem, occurrence));
    context.type = PROBLEM_CONTENT_TYPE;
  }
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

/** A path that holds a secret is never logged: its pattern stands for it. */
function loggedPath(context: Context): string {
  const route = routeOf(context);
  return SECRET_PARAMETER.test(route) ? route : context.path;
}

function routeOf(context: Context): string {
  const matched: unknown = context._matchedRoute;
  return typeof matched === 'string' ? matched : 'none';
}

function notRouted(router: Router, context: Context): Problem {
  const allowed = new Set(router.match(context.path, context.method).path.flatMap((layer) => layer.methods));
  if (allowed.size === 0) return new Problem('route-not-found', `There is no ${context.path} here.`);
  return new Problem('method-not-allowed', `${context.method} is not allowed here.`, {
    headers: { Allow: [...allowed].join(', ') },
  });
}

/** A free call holds nothing. */
function nothing(): void {}

const noReserve = (): Promise<void> => Promise.reject(new RangeError('only calls with a key are capped'));

/** A peer that closes its connection is no fault of the server's. */
const GONE: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ECANCELED', 'ERR_STREAM_PREMATURE_CLOSE']);

function isGone(error: Error): boolean {
  return 'code' in error && GONE.has(error.code);
}
