import { setTimeout as delay } from 'node:timers/promises';
import { RawConnection } from './raw-connection.ts';

/** Between two requests of the good caller. */
const PAUSE_MS = 20;

/** Somebody who behaves: records decisions and asks about them, at a steady pace, for as long as the attack goes on. */
export class GoodCaller {
  readonly recorded: string[] = [];
  /** What was not answered as it should be. */
  readonly faults: string[] = [];
  readonly milliseconds: number[] = [];
  readonly #apiKey: string;
  readonly #connection: RawConnection;

  constructor(port: number, apiKey: string) {
    this.#apiKey = apiKey;
    this.#connection = new RawConnection(port);
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let n = 0; !signal.aborted; n++) {
      const body = JSON.stringify({ sourceId: 'good caller', data: { n } });
      const made = await this.#ask('POST', '/v1/tiered-attest', body);
      const id = /"attestationId":"([^"]+)"/.exec(made)?.[1];
      if (id !== undefined) {
        this.recorded.push(id);
        await this.#ask('GET', `/v1/${n % 2 === 0 ? 'status' : 'verify'}/${id}`);
      }
      await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
    this.#connection.close();
  }

  async #ask(method: string, path: string, body = ''): Promise<string> {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      'Host: x',
      `x-api-key: ${this.#apiKey}`,
      'Content-Type: application/json',
    ];
    const text = [...lines, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
    const started = performance.now();
    const outcome = await this.#connection.exchange([Buffer.from(text)]);
    this.milliseconds.push(performance.now() - started);
    if (typeof outcome !== 'string' && outcome.status === 200) return outcome.body;
    this.faults.push(
      `${method} ${path}: ${typeof outcome === 'string' ? outcome : `${outcome.status} ${outcome.body}`}`,
    );
    return '';
  }
}
