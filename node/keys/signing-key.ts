import type { Sha256Hash } from '../../protocol/hash.ts';
import type { Signer } from '../../protocol/suite/suite.ts';

/** A signing key was revoked, and nothing is signed with it any more. */
export class KeyRevokedError extends Error {
  override readonly name = 'KeyRevokedError';
}

/**
 * The key that this node signs with. It changes while the node runs: anyone who signs picks it again for each
 * statement, and names and uses the one that it picked. A key that is known to be revoked refuses to sign.
 */
export class SigningKey {
  readonly #isRevoked: (keyId: Sha256Hash) => boolean;
  #signer: Signer;
  #validFromMs = 0;

  constructor(signer: Signer, isRevoked: (keyId: Sha256Hash) => boolean) {
    this.#isRevoked = isRevoked;
    this.#signer = this.#guarded(signer);
  }

  readonly pick = (): Signer => this.#signer;

  get keyId(): Sha256Hash {
    return this.#signer.keyId;
  }

  /**
   * What those who sign go by: the key, and the time to write into what they sign. It is never before the key's
   * certificate begins, whatever became of the clock since.
   */
  terms(now: () => number): { readonly signer: () => Signer; readonly now: () => number } {
    return { signer: this.pick, now: () => Math.max(now(), this.#validFromMs) };
  }

  /** From the next statement on this key signs. Its certificate is on the disk, and valid from `validFromMs` on. */
  use(signer: Signer, validFromMs: number): void {
    this.#signer = this.#guarded(signer);
    this.#validFromMs = validFromMs;
  }

  #guarded({ keyId, publicKey, sign }: Signer): Signer {
    return {
      keyId,
      publicKey,
      sign: async (message, context) => {
        if (this.#isRevoked(keyId)) throw new KeyRevokedError(`the signing key ${keyId} was revoked`);
        return sign(message, context);
      },
    };
  }
}
