import { Agent, type ClientRequest, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { OutcomeCounts } from './attack.ts';

export interface AttackCall {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Bytes that are announced beyond the body, and never sent. */
  readonly missing?: number;
}

const PROXY = '127.0.0.1';
const ATTACKER_ADDRESS = '127.0.0.2';
const PATIENCE_MS = 60_000;
/** Statuses whose answer must say when to come back. */
const LATER = new Set([429, 503]);

/** Sends requests over connections of its own and counts what they came to. */
export class AttackClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number) {
    this.#port = port;
  }

  /** Resolves once it is answered, or the connection is closed. Counts `200`, `429 rate-limited`, `closed`. */
  send(call: AttackCall, outcomes: OutcomeCounts): Promise<void> {
    const { method = 'GET', path, headers = {}, body, missing = 0 } = call;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body) + missing) };
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    return new Promise((resolve) => {
      const outgoing = request({
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        headers: { ...json, ...length, ...headers },
        // Only the proxy comes from where honest callers do.
        localAddress: 'x-forwarded-for' in headers ? PROXY : ATTACKER_ADDRESS,
        // A connection on which a body is owed carries nothing more.
        agent: missing === 0 ? this.#agent : false,
        timeout: PATIENCE_MS,
      });
      const over = (outcome: string): void => {
        outcomes.add(outcome);
        if (missing > 0) outgoing.destroy();
        resolve();
      };
      listen(outgoing, over);
      if (body !== undefined) outgoing.write(body);
      if (missing === 0) outgoing.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function listen(outgoing: ClientRequest, over: (outcome: string) => void): void {
  let isOver = false;
  const once = (outcome: string): void => {
    if (!isOver) over(outcome);
    isOver = true;
  };
  outgoing.on('timeout', () => outgoing.destroy());
  outgoing.on('error', () => once('closed'));
  outgoing.on('response', (response) => {
    const { statusCode = 0, headers } = response;
    readText(response).then(
      (text) => {
        const code = statusCode < 400 ? '' : /"code":"([a-z-]+)"/.exec(text)?.[1];
        const isSilent = LATER.has(statusCode) && !(Number(headers['retry-after']) > 0);
        once(`${statusCode} ${code ?? ''}`.trim() + (isSilent ? ' without Retry-After' : ''));
      },
      () => once('closed'),
    );
  });
}

/**
 * The header by which one of very many strangers comes through a proxy of the node: 198.18.0.0/15, which is nobody's.
 */
export function strangersHeader(n: number): Readonly<Record<string, string>> {
  const host = n % (1 << 17);
  return { 'x-forwarded-for': `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}` };
}
