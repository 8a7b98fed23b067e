import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { type Compressor, type Encoding, ENCODINGS, MIN_COMPRESSED_BYTES } from './compression.ts';
import { bodyHash, entityTag, heldTag } from './entity-tag.ts';
import type { Answer, OperatorRoute, Route } from './route.ts';

/** What compresses well: JSON and text. Hashes and signatures in bytes do not. */
const COMPRESSED_TYPE = /^(?:application\/(?:[a-z0-9.+-]+\+)?json$|text\/)/;
const NOT_STORED = /\bno-store\b/;
/** Longest list of encodings that is read; no client sends as much. In characters. */
const MAX_ACCEPTED = 256;

/**
 * Whether anyone may read what a route answers. Only that is compressed: beside what a stranger chose, the length of a
 * compressed answer would tell of what else is in it (BREACH), and answers to keys and payments hold what is others' or
 * secret; the operator's hold API keys.
 */
export function isPublic(route: Route | OperatorRoute): boolean {
  return route.access === 'free' && 'documentation' in route;
}

/** Sends an answer as the route gave it. */
export function sendPlain(context: Context, { status = 200, headers = {}, body }: Answer): void {
  context.status = status;
  for (const [name, value] of Object.entries(headers)) context.set(name, value);
  context.body = body instanceof Uint8Array ? bufferOf(body) : body;
}

/**
 * Sends an answer that anyone may read: with a strong `ETag` where caches may keep it, 304 to who holds it, and compressed
 * for who takes that. A HEAD is answered with the headers of a GET.
 */
export async function sendPublic(context: Context, answer: Answer, compressor: Compressor): Promise<void> {
  const { status = 200, headers = {}, body } = answer;
  if (status !== 200 || body instanceof Readable) return sendPlain(context, answer);
  context.status = status;
  for (const [name, value] of Object.entries(headers)) context.set(name, value);
  if (context.response.type === '') context.type = typeOf(body);
  const bytes = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const hash = isKept(context) ? (answer.bodyHash ?? bodyHash(bytes)) : null;
  const isCompressible = bytes.byteLength > MIN_COMPRESSED_BYTES && COMPRESSED_TYPE.test(context.response.type);
  if (isCompressible) context.vary('Accept-Encoding');
  if (hash !== null) {
    const held = heldTag(context.get('If-None-Match'), hash, isCompressible ? ENCODINGS : []);
    if (held !== null) {
      context.set('ETag', held);
      context.status = 304;
      return;
    }
  }
  const encoding = isCompressible ? acceptedEncoding(context) : null;
  const compressed = encoding === null ? null : await compressor.compress(bytes, encoding, hash);
  if (encoding !== null && compressed !== null) context.set('Content-Encoding', encoding);
  if (hash !== null) context.set('ETag', entityTag(hash, compressed === null ? null : encoding));
  context.body = bufferOf(compressed ?? bytes);
}

function typeOf(body: Answer['body']): string {
  if (body instanceof Uint8Array) return 'bin';
  return typeof body === 'string' ? 'text' : 'json';
}

/** Whether a cache may keep the answer: its route says so, and for how long. */
function isKept({ method, response }: Context): boolean {
  const control = response.headers['cache-control'];
  return (method === 'GET' || method === 'HEAD') && typeof control === 'string' && !NOT_STORED.test(control);
}

function acceptedEncoding(context: Context): Encoding | null {
  const header = context.get('Accept-Encoding');
  if (header === '' || header.length > MAX_ACCEPTED) return null;
  const accepted = context.acceptsEncodings(...ENCODINGS, 'identity');
  return ENCODINGS.find((encoding) => encoding === accepted) ?? null;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
