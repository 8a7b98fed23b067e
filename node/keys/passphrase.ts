import { readFile } from 'node:fs/promises';
import { beginsWithByteOrderMark } from '../../protocol/bytes.ts';

/** Shorter ones are guessed from a stolen key file. In bytes. */
const MIN_PASSPHRASE_BYTES = 12;
const MAX_PASSPHRASE_BYTES = 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class PassphraseError extends Error {
  override readonly name = 'PassphraseError';
}

/** What key files are encrypted under. It shows itself to nobody: neither a log nor a JSON text has it. */
export class Passphrase {
  readonly #bytes: Uint8Array;

  /** Throws `PassphraseError` where it is too short to protect anything, or absurdly long. */
  constructor(bytes: Uint8Array) {
    if (bytes.length < MIN_PASSPHRASE_BYTES) {
      throw new PassphraseError(`a passphrase has at least ${MIN_PASSPHRASE_BYTES} bytes`);
    }
    if (bytes.length > MAX_PASSPHRASE_BYTES) {
      throw new PassphraseError(`a passphrase has at most ${MAX_PASSPHRASE_BYTES} bytes`);
    }
    this.#bytes = bytes;
  }

  /** For key derivation alone. */
  reveal(): Uint8Array {
    return this.#bytes;
  }

  /** Whether it begins with the mark that an editor may have put before what was typed. */
  get isMarked(): boolean {
    return beginsWithByteOrderMark(this.#bytes);
  }

  toJSON(): string {
    return '[passphrase]';
  }
}

/** The passphrase in a file: all of it but line ends at its end. Throws `PassphraseError`. */
export async function readPassphrase(file: string): Promise<Passphrase> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new PassphraseError(`the passphrase file ${file} cannot be read: ${code}`);
  }
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === LINE_FEED || bytes[end - 1] === CARRIAGE_RETURN)) end--;
  return new Passphrase(bytes.subarray(0, end));
}
