import { Agent, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface HonestOptions {
  readonly port: number;
  /** Of an account that may ask as much as these callers do. */
  readonly apiKey: string;
  /** Records that are verified: they ask for their verdicts and bundles. */
  readonly records: readonly string[];
  /** Connections, one a caller. Default: 100. */
  readonly callers?: number;
}

export interface HonestRun {
  /** Requests of each caller. Default: until the signal. */
  readonly requests?: number;
  readonly signal?: AbortSignal;
  /** Between two requests of a caller. Default: none. */
  readonly pauseMs?: number;
}

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

const CALLERS = 100;
/** From the first try to the answer, on a machine with other things to do. */
const PATIENCE_MS = 60_000;
const SECOND_MS = 1_000;

/**
 * Callers who do what callers do, each over a connection of its own: record, verify, look, take a bundle, ask for
 * health.
 */
export class HonestCallers {
  /** Ids of the records that they made. */
  readonly recorded: string[] = [];
  /** From the first try to 200, of every request. */
  readonly milliseconds: number[] = [];
  /** What was neither answered 200, nor 503 with `Retry-After` and then 200. */
  readonly faults: string[] = [];
  /** Answers 503 that told them when to come back. */
  busy = 0;
  readonly #options: HonestOptions;

  constructor(options: HonestOptions) {
    this.#options = options;
  }

  async run({ requests = Number.POSITIVE_INFINITY, signal, pauseMs = 0 }: HonestRun): Promise<void> {
    const { callers = CALLERS } = this.#options;
    const call = async (_: unknown, caller: number): Promise<void> => {
      using agent = new OwnConnection();
      // They do not all come in the same moment.
      await sleep((pauseMs * caller) / callers);
      for (let n = 0; n < requests; n++) {
        if (signal?.aborted === true) return;
        await this.#ask(agent, caller, n);
        if (pauseMs > 0) await sleep(pauseMs, undefined, signal && { signal }).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: callers }, call));
  }

  async #ask(agent: OwnConnection, caller: number, n: number): Promise<void> {
    const question = this.#question(caller, n);
    const name = `${question.method} ${question.path}`;
    const began = performance.now();
    for (;;) {
      const { status, retryAfter, text } = await this.#send(agent, question);
      const passed = performance.now() - began;
      if (status === 200) {
        this.milliseconds.push(passed);
        const id = question.method === 'POST' ? /"attestationId":"([^"]+)"/.exec(text)?.[1] : undefined;
        if (id !== undefined) this.recorded.push(id);
        return;
      }
      const pause = Number(retryAfter) * SECOND_MS;
      if (status !== 503 || !(pause > 0) || passed > PATIENCE_MS) {
        this.faults.push(`${name}: ${status} ${text.slice(0, 300)}`);
        return;
      }
      this.busy++;
      await sleep(Math.min(pause, PATIENCE_MS));
    }
  }

  /** Each caller begins with another kind, so that all kinds are asked at any time. */
  #question(caller: number, n: number): Question {
    const { records } = this.#options;
    const place = caller + n;
    const record = records[place % records.length] ?? '';
    switch (place % 5) {
      case 0: {
        const body = { sourceId: `honest/${caller}`, data: { input: { n }, output: 'refer to a person' } };
        return { method: 'POST', path: '/v1/tiered-attest', body: JSON.stringify(body) };
      }
      case 1:
        return { method: 'GET', path: `/v1/verify/${record}` };
      case 2:
        return { method: 'GET', path: `/v1/status/${this.recorded.at(-1) ?? record}` };
      case 3:
        return { method: 'GET', path: `/v1/bundles/${record}` };
      default:
        return { method: 'GET', path: '/v1/health' };
    }
  }

  async #send(agent: OwnConnection, { method, path, body }: Question): Promise<Answer> {
    const { port, apiKey } = this.#options;
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { 'x-api-key': apiKey, ...json };
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const fail = (error: unknown) => resolve({ status: 0, retryAfter: undefined, text: String(error) });
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers,
      agent: agent.agent,
      timeout: PATIENCE_MS,
    });
    outgoing.on('response', (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      readText(response).then((text) => resolve({ status, retryAfter: answered['retry-after'], text }), fail);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
    outgoing.on('error', fail);
    outgoing.end(body);
    return promise;
  }
}

/** One connection, kept from request to request. */
class OwnConnection implements Disposable {
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });

  [Symbol.dispose](): void {
    this.agent.destroy();
  }
}
