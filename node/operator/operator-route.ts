import type { Context } from 'koa';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { OperatorRoute } from '../http/route.ts';

/** A route of the operator's socket whose answer is an object: it goes out beside `success`. */
export function operatorRoute(
  method: OperatorRoute['method'],
  path: string,
  answer: (context: Context) => Promise<JsonObject>,
): OperatorRoute {
  return {
    method,
    path,
    access: 'free',
    answer: async ({ context }) => ({ body: { success: true, ...(await answer(context)) } }),
  };
}

/** Aborts when whoever asked is gone: nobody would have the answer. */
export function callerGone({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
