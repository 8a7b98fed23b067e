import { join } from 'node:path';
import type { Signer } from '../../protocol/suite/suite.ts';
import { removeDurably, renameDurably } from './durable-file.ts';
import { createKeyAt, KeyFileError, keyFilePath, readKeyAt } from './key-file.ts';
import { nativeSigner } from './native-suite.ts';
import type { Passphrase } from './passphrase.ts';

/** Holds a new signing key until it is certified. */
const NEXT_KEY_FILE = 'signing.next.key';

/**
 * The file of a signing key on its way into use. Crash order: the file is on the disk, then the key's certificate, then
 * the file takes the place of the old key. So a file that is found at a start holds a key that was certified, which
 * goes into use, or one that nobody knows, which is thrown away.
 */
export class NextKey {
  readonly #directory: string;
  readonly #passphrase: Passphrase | null;

  constructor(directory: string, passphrase: Passphrase | null) {
    this.#directory = directory;
    this.#passphrase = passphrase;
  }

  get path(): string {
    return nextKeyPath(this.#directory);
  }

  /** The key that an earlier rotation left; undefined where there is none that can be read. Throws `KeyFileError`. */
  async found(): Promise<Signer | undefined> {
    try {
      return nativeSigner((await readKeyAt(this.path, 'signing', this.#passphrase)).secret);
    } catch (error) {
      // A file that a crash cut short was never certified.
      if (error instanceof KeyFileError && error.fault !== 'locked') return undefined;
      throw error;
    }
  }

  async create(): Promise<Signer> {
    return nativeSigner(await createKeyAt(this.path, 'signing', this.#passphrase));
  }

  /** Puts it in the place of the old key, whose secret is gone then. */
  promote(): Promise<void> {
    return renameDurably(this.path, keyFilePath(this.#directory, 'signing'));
  }

  discard(): Promise<void> {
    return removeDurably(this.path);
  }
}

export function nextKeyPath(directory: string): string {
  return join(directory, NEXT_KEY_FILE);
}
