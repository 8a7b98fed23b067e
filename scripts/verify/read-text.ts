import { type FileHandle, open } from 'node:fs/promises';
import { decodeUtf8 } from '../../protocol/bytes.ts';

/** Longest file of proofs that is read: 16 MiB. */
export const MAX_FILE_BYTES = 16 << 20;

/** A file that is not what it is given as. The message says what to do. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

/**
 * Text of a file of at most `MAX_FILE_BYTES`, in strict UTF-8. Throws `UnreadableFileError`, and what the system
 * throws.
 */
export async function readText(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (size > MAX_FILE_BYTES) throw tooLong();
  const bytes = await readBounded(file);
  try {
    return decodeUtf8(bytes);
  } catch {
    throw new UnreadableFileError('it is not UTF-8');
  }
}

/** To the end, whatever the size was said to be: of a pipe it is said to be nothing. */
async function readBounded(file: FileHandle): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError('a file is read as bytes');
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_FILE_BYTES) throw tooLong();
  }
  return Buffer.concat(chunks);
}

function tooLong(): UnreadableFileError {
  return new UnreadableFileError(`it is longer than ${MAX_FILE_BYTES} bytes`);
}
