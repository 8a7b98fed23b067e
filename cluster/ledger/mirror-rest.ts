import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { LOOPBACK } from './grpc-server.ts';
import { answerLocal } from './local-routes.ts';
import type { MirrorView } from './mirror-view.ts';
import type { NetworkNode } from './network-name.ts';
import { networkRoutes } from './rest-network.ts';
import { RestProblem, notFound } from './rest-problem.ts';
import type { RestRoute } from './rest-route.ts';
import { topicRoutes } from './rest-topics.ts';
import { transactionRoutes } from './rest-transactions.ts';

const API_PREFIX = '/api/v1';
const LOCAL_PREFIX = '/local/';

/** The mirror REST API (a subset of hiero-mirror-node's) on loopback, and the routes of `local-routes.ts`. */
export class MirrorRest {
  readonly #view: MirrorView;
  readonly #routes: readonly RestRoute[];
  readonly #server: Server;

  constructor(view: MirrorView, nodes: readonly NetworkNode[]) {
    this.#view = view;
    this.#routes = [...topicRoutes(view), ...transactionRoutes(view), ...networkRoutes(view, nodes)];
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Returns the port, which the system chooses if it is 0. */
  async listen(port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject).listen(port, LOOPBACK, resolve);
    await promise;
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      send(response, 200, await this.#answer(request));
    } catch (error) {
      const problem = error instanceof RestProblem ? error : new RestProblem(500, 'Internal error');
      send(response, problem.status, problem.body);
    }
  }

  async #answer(request: IncomingMessage): Promise<object> {
    const url = requireUrl(request.url ?? '/');
    if (url.pathname.startsWith(LOCAL_PREFIX)) return answerLocal(this.#view, url.pathname, request);
    if (this.#view.isDown) throw new RestProblem(503, 'Service unavailable');
    if (request.method !== 'GET' || !url.pathname.startsWith(`${API_PREFIX}/`)) throw notFound();
    const path = url.pathname.slice(API_PREFIX.length);
    for (const { pattern, answer } of this.#routes) {
      const match = pattern.exec(path);
      if (match) return answer(url, match.slice(1));
    }
    throw notFound();
  }
}

function requireUrl(text: string): URL {
  const url = URL.parse(text, `http://${LOOPBACK}`);
  if (!url) throw notFound();
  return url;
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    // As the public mirrors do. Nothing here is secret, and `POST /local/faults` cannot be sent from another origin.
    'access-control-allow-origin': '*',
  });
  response.end(text);
}
