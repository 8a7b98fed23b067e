import type Router from '@koa/router';
import type { Context } from 'koa';
import type { OperatorRoute, Route } from './route.ts';

/** What a page of another origin may read of an answer beside its body. */
const EXPOSED = ['X-Request-Id', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].join(', ');
/** How long a browser may remember what it was told of a route. In seconds. */
const PREFLIGHT_AGE = 86_400;

/** Whether pages of any origin may call a route (Fetch §3.2): only what needs no key and changes nothing. */
export function isOpenToPages(route: Route | OperatorRoute): boolean {
  return 'documentation' in route && route.access === 'free' && (route.crossOrigin ?? route.method === 'GET');
}

/** Lets the page that made a request read its answer, a refusal too. No cookie or credential is ever taken from it. */
export function allowPages(context: Context): void {
  context.set('Access-Control-Allow-Origin', '*');
  context.set('Access-Control-Expose-Headers', EXPOSED);
}

/** Answers the question that a browser asks before it sends JSON, or a header of its own. */
export function mountPreflight(router: Router, path: string, { method }: Pick<Route, 'method'>): void {
  router.options(path, (context) => {
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Access-Control-Allow-Methods', method);
    context.set('Access-Control-Allow-Headers', 'Content-Type, X-Request-Id');
    context.set('Access-Control-Max-Age', String(PREFLIGHT_AGE));
    context.status = 204;
  });
}
