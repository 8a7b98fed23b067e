import type Router from '@koa/router';
import type { Context } from 'koa';
import {
  PAYMENT_REQUIRED_HEADER,
  PAYMENT_RESPONSE_HEADER,
  PAYMENT_SIGNATURE_HEADER,
} from '../../protocol/payments/header.ts';
import type { OperatorRoute, Route } from './route.ts';

/** What a page of another origin may read of an answer beside its body. */
const EXPOSED = ['X-Request-Id', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].join(', ');
/** What it may read of the answer to a paid call, and what it may send with one. Stock clients send the last of these. */
const PAID_EXPOSED = `${PAYMENT_REQUIRED_HEADER}, ${PAYMENT_RESPONSE_HEADER}, Payment-Replayed, ${EXPOSED}`;
const PAID_ALLOWED = `Content-Type, X-Request-Id, ${PAYMENT_SIGNATURE_HEADER}, Access-Control-Expose-Headers`;
const ALLOWED = 'Content-Type, X-Request-Id';
/** How long a browser may remember what it was told of a route. In seconds. */
const PREFLIGHT_AGE = 86_400;

/** Whether pages of any origin may call a route (Fetch §3.2): what needs no key and changes nothing, and what is paid. */
export function isOpenToPages(route: Route | OperatorRoute): boolean {
  if (route.access === 'paid') return true;
  return 'documentation' in route && route.access === 'free' && (route.crossOrigin ?? route.method === 'GET');
}

/** Lets the page that made a request read its answer, a refusal too. No cookie or credential is ever taken from it. */
export function allowPages(context: Context, { access }: Pick<Route, 'access'>): void {
  context.set('Access-Control-Allow-Origin', '*');
  context.set('Access-Control-Expose-Headers', access === 'paid' ? PAID_EXPOSED : EXPOSED);
}

/** Answers the question that a browser asks before it sends JSON, or a header of its own. */
export function mountPreflight(router: Router, path: string, route: Pick<Route, 'method' | 'access'>): void {
  router.options(path, (context) => {
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Access-Control-Allow-Methods', route.method);
    context.set('Access-Control-Allow-Headers', route.access === 'paid' ? PAID_ALLOWED : ALLOWED);
    context.set('Access-Control-Max-Age', String(PREFLIGHT_AGE));
    context.status = 204;
  });
}
