import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROBLEM_CONTENT_TYPE, Problem, problemBody } from './problem.ts';

interface Written {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const HOST = 'host';
/** Requests on one connection that wait for their answers; a caller that sends more at once is cut off. */
const MAX_PIPELINED = 32;

/**
 * Answers what is not well-formed HTTP in the one shape of all errors, and closes the connection: what follows a broken
 * request cannot be told from its body. Whole requests that came before it on the connection are answered first.
 * Everything else goes to `handler`, for each connection so many at a time: what one packet may hold would keep the
 * event loop from everybody else.
 */
export function answerRequests(server: Server, handler: RequestListener, baseUrl: () => string): void {
  /** By connection: the response to the last request that came on it. */
  const latest = new WeakMap<Duplex, ServerResponse>();
  const unanswered = new WeakMap<Duplex, number>();
  const answer: RequestListener = (request, response) => {
    const { socket } = request;
    const waiting = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, waiting);
    if (waiting > MAX_PIPELINED) {
      socket.destroy();
      return;
    }
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    latest.set(socket, response);
    // After an upgrade that was not made, Node's parser keeps its next fault to itself.
    if (request.headers.upgrade !== undefined) response.setHeader('Connection', 'close');
    const fault = faultOf(request);
    if (fault === null) void handler(request, response);
    else send(response, written(new Problem('request-malformed', fault), baseUrl()));
  };
  server.on('request', answer);
  // An expectation other than 100-continue is not met, and may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', answer);
  server.on('clientError', (error: Error, socket: Duplex) => {
    if (!socket.writable || codeOf(error) === 'ECONNRESET') socket.destroy();
    else answerLast(socket, latest.get(socket), written(problemOf(error), baseUrl()));
  });
  server.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => {});
    socket.end(textOf(written(new Problem('method-not-allowed', 'CONNECT is not allowed here.'), baseUrl())));
  });
}

/** What the parser lets through and is no HTTP/1.1 or HTTP/1.0 all the same. */
function faultOf(request: IncomingMessage): string | null {
  if (request.httpVersionMajor !== 1) return `HTTP/${request.httpVersion} is not spoken here.`;
  return namesOneHost(request) ? null : 'The request does not name one host.';
}

/** RFC 9112 §3.2. */
function namesOneHost({ httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersionMinor === 0);
}

/**
 * `last` refuses what came after the latest request, or that request's body. Answers go out in the order of requests.
 */
function answerLast(socket: Duplex, latest: ServerResponse | undefined, last: Written): void {
  const end = (): void => void (socket.writable ? socket.end(textOf(last)) : socket.destroy());
  if (latest === undefined || (latest.req.complete && latest.writableFinished)) end();
  else if (latest.req.complete) latest.once('close', end);
  // Its answer has begun, or waits behind that of another request.
  else if (latest.headersSent || latest.socket === null) socket.destroy();
  else send(latest, last);
}

function send(response: ServerResponse, { status, headers, body }: Written): void {
  response.writeHead(status, headers).end(body);
}

function problemOf(error: Error): Problem {
  switch (codeOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers-too-large', 'The header is larger than is read here.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request-timeout', 'The request took too long to arrive.');
    default:
      return new Problem('request-malformed', 'The request is not well-formed HTTP.');
  }
}

function codeOf(error: Error): unknown {
  return 'code' in error ? error.code : undefined;
}

function written(problem: Problem, baseUrl: string): Written {
  const requestId = `req_${randomUUID()}`;
  const body = JSON.stringify(problemBody(problem, { baseUrl, instance: '/', requestId }));
  const headers = {
    'Content-Type': `${PROBLEM_CONTENT_TYPE}; charset=utf-8`,
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
  return { status: problem.status, headers, body };
}

function textOf({ status, headers, body }: Written): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`, ...lines, '', body].join('\r\n');
}
