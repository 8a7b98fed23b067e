import type { JsonObject } from '../../protocol/json/value.ts';
import type { Operation } from '../fixtures/api-document.ts';

/** A request of the right form for an operation: what hostile ones are made of. */
export interface Sound {
  readonly operation: Operation;
  /** With its path parameters, without its query. */
  readonly path: string;
  /** With its question mark; empty where there is none. */
  readonly query: string;
  readonly body: JsonObject | undefined;
  /** What `PAYMENT-SIGNATURE` holds where the operation is sold; it is read, and never holds. */
  readonly payment: string | undefined;
}

/** Something to send to the node, as bytes. */
export interface FuzzedRequest {
  /** What is wrong with it. */
  readonly what: string;
  readonly operation: Operation;
  /** Sent with a pause between them. */
  readonly pieces: readonly Uint8Array[];
  /**
   * What the client does after it: read the answer; read it and give the connection up; say that nothing more comes and
   * read; go away.
   */
  readonly after: 'stay' | 'leave' | 'half-close' | 'cut';
  /** Whether the answer to it has no body. */
  readonly noBody: boolean;
  /** Whether it happens to be right, so that it may be accepted. */
  readonly mayPass: () => boolean;
}

export interface Head {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** Lines as they are sent, in Latin-1. Default: those of a sound request. */
  readonly headers?: readonly string[];
}

export const never = (): boolean => false;
export const maybe = (): boolean => true;

/** The header lines of a sound request with this body. */
export function soundHeaders({ payment }: Sound, apiKey: string, body: Uint8Array | undefined): string[] {
  const lines = ['Host: node.example', `x-api-key: ${apiKey}`];
  if (payment !== undefined) lines.push(`PAYMENT-SIGNATURE: ${payment}`);
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  return lines;
}

export function bytesOfBody({ body }: Sound): Uint8Array | undefined {
  return body === undefined ? undefined : Buffer.from(JSON.stringify(body), 'utf8');
}

/** One piece: head and body. */
export function wire(sound: Sound, head: Head, body: Uint8Array | undefined): Uint8Array {
  const {
    method = sound.operation.method,
    target = sound.path + sound.query,
    version = 'HTTP/1.1',
    headers = [],
  } = head;
  const text = [`${method} ${target} ${version}`, ...headers, '', ''].join('\r\n');
  const start = Buffer.from(text, 'latin1');
  return body === undefined ? start : Buffer.concat([start, body]);
}
