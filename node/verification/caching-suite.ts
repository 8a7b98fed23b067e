import { hash } from 'node:crypto';
import { utf8 } from '../../protocol/bytes.ts';
import type { Suite } from '../../protocol/suite/suite.ts';

/** Signatures remembered as good: the envelopes, receipts and checkpoints of recent batches recur in every verify. */
const MAX_REMEMBERED = 50_000;

/**
 * A suite that remembers which signatures held. The key is a hash of context, public key, signature and message, so a
 * changed byte anywhere is a signature never seen. Bad signatures are not remembered: a flood of them evicts nothing.
 */
export function cachingSuite(suite: Suite): Suite {
  const held = new Set<string>();
  return {
    name: `caching ${suite.name}`,
    sha256: suite.sha256,
    sha256Hex: suite.sha256Hex,
    sha384: suite.sha384,
    verify(publicKey, message, signature, context) {
      const lengths = utf8(`${context}/${publicKey.length}/${signature.length}/`);
      const key = hash('sha256', Buffer.concat([lengths, publicKey, signature, message]), 'base64');
      if (held.delete(key)) {
        held.add(key);
        return true;
      }
      const holds = suite.verify(publicKey, message, signature, context);
      if (holds) remember(held, key);
      return holds;
    },
  };
}

function remember(held: Set<string>, key: string): void {
  held.add(key);
  const [oldest] = held;
  if (held.size > MAX_REMEMBERED && oldest !== undefined) held.delete(oldest);
}
