import type { Signer } from '../../protocol/suite/suite.ts';

/** The same key. `requireRunning` is asked before each signature, which rejects with what it throws. */
export function haltingSigner(signer: Signer, requireRunning: () => void): Signer {
  return {
    keyId: signer.keyId,
    publicKey: signer.publicKey,
    async sign(message, context) {
      requireRunning();
      return signer.sign(message, context);
    },
  };
}
