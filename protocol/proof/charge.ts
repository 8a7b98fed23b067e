import type { EntityId, NodeId } from '../ids.ts';
import type { Authority } from '../verdict/authority.ts';
import type { SignatureClaim } from '../verdict/check-signed.ts';
import type { Known } from '../verdict/known.ts';
import type { ProofWord } from './proof-word.ts';

/** A message of the federation's topic, as a verifier has read it where it is final. */
export interface ReadMessage {
  /** Ledger account that paid for it. */
  readonly payer: EntityId;
  readonly message: string;
  /** Decisions in the log before it. */
  readonly index: number;
}

/** What a verifier knows beside a proof of misbehaviour. Anyone who knows more always passes it in. */
export interface ProofKnown extends Pick<Known, 'log' | 'pin' | 'revocations' | 'rosters'> {
  /** The message of that sequence number; undefined where the verifier has not read the ledger there. */
  readonly messageAt?: (sequence: string) => ReadMessage | undefined;
}

/** What a proof falls short of. */
export interface Shortfall {
  readonly word: Exclude<ProofWord, 'proven'>;
  readonly detail: string;
}

/** What a proof says of a member, read, and with all that hashes alone can refuse behind it. */
export interface Charge {
  readonly accused: NodeId;
  /** The batch of the accused that it is about; null for checkpoints. */
  readonly batch: number | null;
  /** What the accused has signed: each of these signatures must hold by a key of its that was not compromised. */
  readonly signed: readonly SignatureClaim[];
  /** What is lacking once those hold; null where nothing is. */
  readonly judge: (authority: Authority, known: ProofKnown) => Shortfall | null;
}

/** What a proof shows goes together, or does not read. */
export class NoChargeError extends Error {
  override readonly name = 'NoChargeError';
}
