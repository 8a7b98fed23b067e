import type Koa from 'koa';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
