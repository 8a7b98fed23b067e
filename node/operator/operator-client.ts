import { request } from 'node:http';
import { decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';

/** Longest wait for a running node to answer its operator. In milliseconds. */
const ANSWER_MS = 10_000;

/** A running node refused what its operator asked. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** HTTP status; null where there was no answer. */
  readonly status: number | null;
  /** What the node says of it, for people. */
  readonly detail: string;

  constructor(message: string, status: number | null, detail: string) {
    super(message);
    this.status = status;
    this.detail = detail;
  }
}

/** What the system says of a socket that is not there, in a folder or in a file, or that no process listens on. */
const ABSENT: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED'];

/** Whether an error of the connection says that no node runs: there is no socket, or no process listens on it. */
export function isNodeAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ABSENT.includes(error.code);
}

/**
 * Puts one question to a running node over the socket in its home. Throws `OperatorError` on any answer but 200, and
 * where nothing listens there the error of the connection. `answerMs`: longest silence, in milliseconds.
 */
export function operatorRequest(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  body?: JsonObject,
  answerMs = ANSWER_MS,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // A connection of its own: one that is kept could be closed by the node just when it is used again.
  const outgoing = request({ socketPath, method, path, timeout: answerMs, agent: false }, (response) => {
    const chunks: Uint8Array[] = [];
    response.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = decodeUtf8(Buffer.concat(chunks));
      if (response.statusCode === 200) resolve(text);
      else reject(refusalOf(response.statusCode ?? 0, text));
    });
  });
  outgoing.on('timeout', () => outgoing.destroy(silence()));
  outgoing.on('error', reject);
  if (body === undefined) outgoing.end();
  else outgoing.setHeader('content-type', 'application/json').end(utf8(JSON.stringify(body)));
  return promise;
}

function refusalOf(status: number, text: string): OperatorError {
  return new OperatorError(`the node answered ${status}: ${text}`, status, detailOf(text));
}

function silence(): OperatorError {
  return new OperatorError('the node does not answer', null, 'the node does not answer');
}

/** The detail of a problem document; anything else as it is. */
function detailOf(text: string): string {
  try {
    const problem = parseJson(text);
    return isJsonObject(problem) && typeof problem.detail === 'string' ? problem.detail : text;
  } catch {
    return text;
  }
}
