import { createServer, type Server } from 'node:http';
import { once } from 'node:events';

export interface MirrorMessage {
  readonly sequence_number: number;
  readonly message: string;
  readonly running_hash: string;
  readonly consensus_timestamp: string;
  readonly payer_account_id: string;
}

/** What the proxy makes of a page of messages before it passes it on. */
export type Lie = (messages: readonly MirrorMessage[]) => readonly MirrorMessage[];

export const truth: Lie = (messages) => messages;

/** A proxy in front of a mirror that can tell anything about the messages of a topic. */
export class LyingMirror implements AsyncDisposable {
  lie: Lie = truth;
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async before(mirrorUrl: string): Promise<LyingMirror> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no address');
    const mirror = new LyingMirror(server, `http://127.0.0.1:${address.port}`);
    server.on('request', (request, response) => {
      void mirror.#answer(mirrorUrl + (request.url ?? '')).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      });
    });
    return mirror;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(url: string): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const response = await fetch(url);
      const body: unknown = await response.json();
      const told = isPage(body) ? { ...body, messages: this.lie(body.messages) } : body;
      return { status: response.status, body: JSON.stringify(told) };
    } catch {
      return { status: 502, body: '{}' };
    }
  }
}

function isPage(value: unknown): value is { readonly messages: readonly MirrorMessage[] } {
  return typeof value === 'object' && value !== null && 'messages' in value && Array.isArray(value.messages);
}
