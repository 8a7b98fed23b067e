import type { ExitCode } from '../verdict/word.ts';

/**
 * What a proof of misbehaviour comes to, with the exit codes of the command line that judges bundles: 1 accuses nobody
 * · 5 checkpoints of too few members · 4 the ledger was not read there · 3 nothing pinned it · 0 proven.
 */
export const PROOF_EXIT_CODES = {
  /** What it shows goes together, or does not read. */
  'no-contradiction': 1,
  'rosters-do-not-join': 1,
  'pin-does-not-join': 1,
  /** A signature does not hold, by a key that its member certified. */
  'not-signed': 1,
  /** Somebody else may have held a key that signed, or the key was out of use there. */
  'key-revoked': 1,
  /** The verifier knows better. */
  contradicted: 1,
  'roster-without-majority': 5,
  /** Too few members show that the batch was decided, or that the checkpoint is false. */
  'too-few-checkpoints': 5,
  /** The node signed both; that its own account named both is for anyone who has read the ledger there to say. */
  'two-signed': 4,
  consistent: 3,
  proven: 0,
} as const satisfies Readonly<Record<string, ExitCode>>;

export type ProofWord = keyof typeof PROOF_EXIT_CODES;
