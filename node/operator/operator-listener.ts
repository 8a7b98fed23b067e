import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type Koa from 'koa';
import type { Context } from 'koa';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { OperatorRoute } from '../http/route.ts';
import { type Listener, listenOnSocket } from '../http/server.ts';

const SOCKET = 'operator.sock';
const SOCKET_MODE = 0o600;

/** Listens on the operator's socket of a home, for its owner alone. */
export async function listenForOperator(app: Koa, home: string): Promise<Listener> {
  const path = join(home, SOCKET);
  // A socket that a killed node left behind; the store's lock has shown that no other node lives here.
  await rm(path, { force: true });
  const listener = await listenOnSocket(app.callback(), path);
  await chmod(path, SOCKET_MODE);
  return listener;
}

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

/** Aborts when anyone who asked is gone: nobody would have the answer. */
export function callerGone({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  return gone.signal;
}
