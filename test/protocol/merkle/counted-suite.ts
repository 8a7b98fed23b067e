import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Sha256 } from '../../../protocol/merkle/hash.ts';

/** SHA-256, and how often it was asked for. */
export class CountedSuite implements Sha256 {
  hashes = 0;

  readonly sha256: Sha256['sha256'] = (...parts) => {
    this.hashes++;
    return nativeSuite.sha256(...parts);
  };
}
