import { createServer, type Server } from 'node:http';
import { once } from 'node:events';

/** First character of a message on the topic, in base64: an anchor begins with another one than this. */
const MESSAGE = /"message":"./g;

/** A mirror in front of the real one. While it lies, every message that it shows was changed. */
export class LyingMirror implements AsyncDisposable {
  lies = false;
  readonly #server: Server;
  readonly #real: string;

  private constructor(server: Server, real: string) {
    this.#server = server;
    this.#real = real;
  }

  static async start(real: string): Promise<LyingMirror> {
    const server = createServer();
    const mirror = new LyingMirror(server, real);
    server.on('request', (request, response) => {
      mirror
        .#answer(request.url ?? '/')
        .then(({ status, text }) => {
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(text);
        })
        .catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return mirror;
  }

  get url(): string {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the mirror does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #answer(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(this.#real + path);
    const text = await response.text();
    return { status: response.status, text: this.lies ? text.replaceAll(MESSAGE, '"message":"x') : text };
  }
}
