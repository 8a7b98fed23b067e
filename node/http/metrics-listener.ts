import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { ListenAddress } from '../config/read-variable.ts';
import { bind, type Listener } from './server.ts';
import type { Metrics } from '../metrics/metrics.ts';

type Exposition = Awaited<ReturnType<Metrics['expose']>>;

/** Scrapers are few; what comes beyond is closed at once. */
const MAX_CONNECTIONS = 16;
/** Bounds on a scraper's connection, in milliseconds. One that is silent for longer makes way for others. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 5_000;
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 4 << 10;
const PATH = '/metrics';
const METHODS: ReadonlySet<unknown> = new Set(['GET', 'HEAD']);

const OPTIONS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
};

/**
 * Shows a node's metrics at `/metrics` of a listener of its own, so that connections, limits and gates of the API never
 * stand before a scrape. Scrapes at the same time share one rendering. Disposing it ends its connections.
 */
export function listenForMetrics(
  metrics: Pick<Metrics, 'expose'>,
  where: ListenAddress,
  log: Pick<Logger, 'error'>,
): Promise<Listener> {
  let underWay: Promise<Exposition> | undefined;
  const expose = (): Promise<Exposition> => {
    underWay ??= metrics.expose().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  const answer: RequestListener = (request, response) => {
    if (request.url !== PATH) return void response.writeHead(404).end();
    if (!METHODS.has(request.method)) return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    expose().then(
      (exposition) => show(exposition, response),
      (error: unknown) => {
        log.error({ err: error }, 'the metrics could not be read');
        response.writeHead(500).end();
      },
    );
  };
  const server = createServer(OPTIONS, answer);
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = KEEP_ALIVE_MS;
  return bind(server, where);
}

/** Of an answer to HEAD, Node sends the headers alone. */
function show({ contentType, text }: Exposition, response: ServerResponse): void {
  const body = Buffer.from(text);
  response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': body.byteLength }).end(body);
}
