import { readEnvironment } from '../../node/config/environment.ts';
import { type Passphrase, readPassphrase } from '../../node/keys/passphrase.ts';

/** What the key files of a home on this machine are under, by `NODE_KEY_PASSPHRASE_FILE`. Throws `PassphraseError`. */
export async function homePassphrase(): Promise<Passphrase | null> {
  const { NODE_KEY_PASSPHRASE_FILE: file } = readEnvironment();
  return file === undefined ? null : readPassphrase(file);
}
