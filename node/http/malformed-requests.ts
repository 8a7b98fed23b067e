import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { PROBLEM_CONTENT_TYPE, Problem, problemBody } from './problem.ts';

/**
 * Answers what the HTTP parser refuses in the one shape of all errors, and closes the connection: what follows a broken
 * request cannot be told from its body.
 */
export function answerMalformedRequests(server: Server, baseUrl: string): void {
  // Connections with an answer under way: nothing may be written into the middle of it.
  const answering = new WeakSet<Duplex>();
  server.on('request', ({ socket }, response) => {
    answering.add(socket);
    response.once('close', () => answering.delete(socket));
  });
  server.on('clientError', (error: Error, socket: Duplex) => {
    if (!socket.writable || answering.has(socket) || codeOf(error) === 'ECONNRESET') socket.destroy();
    else socket.end(answerText(problemOf(error), baseUrl));
  });
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

function answerText(problem: Problem, baseUrl: string): string {
  const requestId = `req_${randomUUID()}`;
  const body = JSON.stringify(problemBody(problem, { baseUrl, instance: '/', requestId }));
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}`,
    `Content-Type: ${PROBLEM_CONTENT_TYPE}; charset=utf-8`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
