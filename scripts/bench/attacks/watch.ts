import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface WatchOptions {
  /** Of the API. */
  readonly port: number;
  readonly metricsPort: number;
  /** Between two looks at each. */
  readonly healthPauseMs: number;
  readonly metricsPauseMs: number;
}

const PATIENCE_MS = 60_000;

/** Looks at `/v1/health` and `/metrics` again and again, as a monitor does that has no key. */
export class Watch {
  /** Of each answer 200 of `/v1/health`. */
  readonly health: number[] = [];
  /** Of each answer 200 of `/metrics`. */
  readonly metrics: number[] = [];
  /** What was not answered 200. */
  readonly faults: string[] = [];
  readonly #options: WatchOptions;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** At least one look at each. */
  async run(signal: AbortSignal): Promise<void> {
    const { port, metricsPort, healthPauseMs, metricsPauseMs } = this.#options;
    const agent = new Agent({ keepAlive: true });
    const look = async (at: number, path: string, pauseMs: number, times: number[]): Promise<void> => {
      do {
        const began = performance.now();
        const status = await statusOf(agent, at, path);
        if (status === 200) times.push(performance.now() - began);
        else this.faults.push(`GET ${path}: ${status}`);
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      } while (!signal.aborted);
    };
    await Promise.all([
      look(port, '/v1/health', healthPauseMs, this.health),
      look(metricsPort, '/metrics', metricsPauseMs, this.metrics),
    ]);
    agent.destroy();
  }
}

/** 0 where there was no answer. */
function statusOf(agent: Agent, port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request({ host: '127.0.0.1', port, path, agent, timeout: PATIENCE_MS }, (response) => {
      response.resume().once('close', () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    });
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => resolve(0)).end();
  });
}
