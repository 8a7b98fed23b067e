import { LRUCache } from 'lru-cache';
import { utf8 } from '../../protocol/bytes.ts';
import type { SignedText, SigningContext, Suite } from '../../protocol/suite/suite.ts';
import { Semaphore } from '../concurrency/semaphore.ts';

/**
 * Signatures remembered as good: the envelopes, receipts and checkpoints of recent batches recur in every verdict. Each
 * takes some 150 bytes.
 */
const MAX_REMEMBERED = 50_000;

/** Signatures that are checked apart at the same time: half of the threads that the store's reads need too. */
const CHECKED_AT_ONCE = 2;

/** Checks a signature in another thread. */
export type VerifyApart = (...terms: Parameters<Suite['verify']>) => Promise<boolean>;

/** A suite that remembers, and can find out beforehand what it will be asked. */
export interface CachingSuite extends Suite {
  readonly holds: NonNullable<Suite['holds']>;
  /**
   * Checks a signature in another thread, so that `holds` knows of it where it is good. Never throws on what it is
   * given.
   */
  readonly checkApart: (publicKey: Uint8Array, signed: SignedText, context: SigningContext) => Promise<void>;
}

/**
 * A suite that remembers which signatures held. `apart`: how it checks one in another thread, where it can. The key is
 * a hash of context, public key, signature and message, so a changed byte anywhere is a signature never seen. Bad
 * signatures are not remembered: a flood of them evicts nothing.
 */
export function cachingSuite(suite: Suite, apart: VerifyApart | null = null, max = MAX_REMEMBERED): CachingSuite {
  const held = new LRUCache<string, true>({ max });
  const places = new Semaphore({ places: CHECKED_AT_ONCE });
  const remembering = (key: string, check: () => boolean): boolean => {
    if (held.get(key) === true) return true;
    const holds = check();
    if (holds) held.set(key, true);
    return holds;
  };
  const nameOf = (publicKey: Uint8Array, { statement, signature }: SignedText, context: SigningContext): string => {
    return suite.sha256Hex(`text/${context}/${publicKey.length}/${signature.length}/`, publicKey, signature, statement);
  };
  return {
    name: `caching ${suite.name}`,
    sha256: suite.sha256,
    sha256Hex: suite.sha256Hex,
    sha384: suite.sha384,
    verify(publicKey, message, signature, context) {
      const lengths = `bytes/${context}/${publicKey.length}/${signature.length}/`;
      return remembering(suite.sha256Hex(lengths, publicKey, signature, message), () => {
        return suite.verify(publicKey, message, signature, context);
      });
    },
    holds(publicKey, signed, context) {
      if (!isText(signed)) return false;
      return remembering(nameOf(publicKey, signed, context), () => {
        const bytes = signatureBytes(signed.signature);
        return bytes !== null && suite.verify(publicKey, utf8(signed.statement), bytes, context);
      });
    },
    async checkApart(publicKey, signed, context) {
      if (apart === null || !isText(signed)) return;
      const name = nameOf(publicKey, signed, context);
      if (held.get(name) === true) return;
      const bytes = signatureBytes(signed.signature);
      if (bytes === null) return;
      using _place = await places.enter();
      if (held.has(name)) return;
      if (await apart(publicKey, utf8(signed.statement), bytes, context)) held.set(name, true);
    },
  };
}

/** Whether it has UTF-8, so that it can be hashed. */
function isText({ statement, signature }: SignedText): boolean {
  return statement.isWellFormed() && signature.isWellFormed();
}

/** The bytes of unpadded base64url; null where the text is not the one text that stands for them. */
function signatureBytes(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}
