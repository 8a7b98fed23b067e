import { request } from 'node:http';
import { decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import type { JsonObject } from '../../protocol/json/value.ts';

/** Longest wait for a running node to answer its operator. In milliseconds. */
const ANSWER_MS = 10_000;

export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** Puts one question to a running node over the socket in its home. Throws `OperatorError` on any answer but 200. */
export function operatorRequest(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  body?: JsonObject,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const outgoing = request({ socketPath, method, path, timeout: ANSWER_MS }, (response) => {
    const chunks: Uint8Array[] = [];
    response.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      const text = decodeUtf8(Buffer.concat(chunks));
      if (response.statusCode === 200) resolve(text);
      else reject(new OperatorError(`the node answered ${response.statusCode}: ${text}`));
    });
  });
  outgoing.on('timeout', () => outgoing.destroy(new OperatorError('the node does not answer')));
  outgoing.on('error', reject);
  if (body === undefined) outgoing.end();
  else outgoing.setHeader('content-type', 'application/json').end(utf8(JSON.stringify(body)));
  return promise;
}
