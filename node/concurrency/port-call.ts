import type { MessagePort } from 'node:worker_threads';

/** Names of calls, each with what it takes and what it answers: both are copied from one thread to the other. */
export type CallTable = Readonly<Record<string, { readonly argument: unknown; readonly result: unknown }>>;

/** Who answers each call of a table. */
export type CallHandlers<Table extends CallTable> = {
  readonly [Name in keyof Table]: (argument: Table[Name]['argument']) => Promise<Table[Name]['result']>;
};

interface Request<Table extends CallTable> {
  readonly id: number;
  readonly name: keyof Table;
  readonly argument: never;
}

type Reply<Result> =
  | { readonly id: number; readonly isDone: true; readonly result: Result }
  | { readonly id: number; readonly isDone: false; readonly error: unknown };

interface Pending {
  settle(reply: Reply<unknown>): void;
}

/** Asks the thread at the other end of a port, and waits for what it answers. Any number of calls at a time. */
export class PortCaller<Table extends CallTable> {
  readonly #port: MessagePort;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (reply: Reply<unknown>) => {
      this.#pending.get(reply.id)?.settle(reply);
      this.#pending.delete(reply.id);
    });
  }

  /** Rejects with what the handler threw, as far as it can be copied. */
  call<Name extends keyof Table>(name: Name, argument: Table[Name]['argument']): Promise<Table[Name]['result']> {
    const { promise, resolve, reject } = Promise.withResolvers<Table[Name]['result']>();
    const id = ++this.#last;
    this.#pending.set(id, {
      settle(reply: Reply<Table[Name]['result']>) {
        if (reply.isDone) resolve(reply.result);
        else reject(reply.error);
      },
    });
    this.#port.postMessage({ id, name, argument }, []);
    return promise;
  }
}

/** Answers the calls that come over a port, until it is closed. */
export function serveCalls<Table extends CallTable>(port: MessagePort, handlers: CallHandlers<Table>): void {
  port.on('message', async ({ id, name, argument }: Request<Table>) => {
    port.postMessage(await replyOf(id, () => handlers[name](argument)));
  });
}

async function replyOf(id: number, answer: () => Promise<unknown>): Promise<Reply<unknown>> {
  try {
    return { id, isDone: true, result: await answer() };
  } catch (error) {
    return { id, isDone: false, error };
  }
}
