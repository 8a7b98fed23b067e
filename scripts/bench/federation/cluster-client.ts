import { Agent, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';

/** Answers over loopback take milliseconds; a node that is this late is stuck. In milliseconds. */
const ANSWER_MS = 60_000;

/** Asks nodes of the local cluster over kept connections. */
export class ClusterClient implements Disposable {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #apiKey: string;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  get(url: string): Promise<unknown> {
    return this.#send('GET', url, undefined, {});
  }

  post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    return this.#send('POST', url, JSON.stringify(body), headers);
  }

  delete(url: string): Promise<unknown> {
    return this.#send('DELETE', url, undefined, {});
  }

  /** Posts a record; its id. */
  async attest(baseUrl: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const id = member(await this.post(`${baseUrl}/v1/tiered-attest`, body, headers), 'attestationId');
    if (typeof id !== 'string') throw new Error('an accepted record has an id');
    return id;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #send(
    method: string,
    url: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { method, agent: this.#agent, timeout: ANSWER_MS };
    const outgoing = request(url, { ...options, headers: { 'x-api-key': this.#apiKey, ...json, ...headers } });
    outgoing.on('response', (response) => {
      readText(response).then((answer) => {
        if (response.statusCode === 200) resolve(JSON.parse(answer));
        else reject(new Error(`${method} ${url} was answered ${response.statusCode}: ${answer}`));
      }, reject);
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${url} does not answer`)));
    outgoing.on('error', reject);
    outgoing.end(body);
    return promise;
  }
}

/** A member of a JSON object; undefined of anything else. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
