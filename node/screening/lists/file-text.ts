import { pipeline, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { ListError } from './list-error.ts';

/** Largest file as it comes. The largest official one has about 25 MB. In bytes. */
export const MAX_FILE_BYTES = 64 << 20;
/** Largest file once it is unpacked. In bytes. */
const MAX_TEXT_BYTES = 192 << 20;
/** Bytes of one piece of text: what is parsed of one is what the event loop waits for. */
const PIECE_BYTES = 16 << 10;
/** Ctrl-Z, with which OFAC ends its files. */
const END_MARK = '\u001a';
const NUL = '\0';

/**
 * The text of a file's bytes, unpacked where its name says `.gz`. It must be UTF-8 without NUL, which no list holds; a
 * Ctrl-Z at the very end is left out. Throws `ListError`.
 */
export async function* fileText(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  maxBytes = MAX_TEXT_BYTES,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let held = '';
  for await (const piece of name.endsWith('.gz') ? unpacked(name, bytes, maxBytes) : pieces(bytes)) {
    const text = held + decoded(name, decoder, piece);
    // Only the very last character may be the end mark.
    held = text.endsWith(END_MARK) ? END_MARK : '';
    const passed = held === '' ? text : text.slice(0, -1);
    if (passed !== '') yield passed;
    await turn();
  }
  const rest = decoded(name, decoder);
  if (rest !== '') yield rest;
}

function decoded(name: string, decoder: TextDecoder, piece?: Uint8Array): string {
  let text: string;
  try {
    text = piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch (error) {
    throw new ListError('malformed', `${name} is not UTF-8`, error);
  }
  if (text.includes(NUL)) throw new ListError('malformed', `${name} holds a NUL character`);
  return text;
}

async function* pieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/** Unpacks piece by piece: what comes out is judged before more is unpacked. */
async function* unpacked(name: string, bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  let length = 0;
  // What ends it early is thrown by the loop below.
  pipeline(Readable.from(bytes), gunzip, () => undefined);
  try {
    for await (const piece of gunzip) {
      if (!(piece instanceof Uint8Array)) throw new TypeError('an unpacked piece is no bytes');
      length += piece.length;
      if (length > maxBytes) throw new ListError('too-large', `${name} unpacks to more than ${maxBytes} bytes`);
      yield piece;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
      throw new ListError('malformed', `${name} is damaged or cut off: ${error.message}`, error);
    }
    throw error;
  }
}
