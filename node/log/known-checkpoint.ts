import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../../protocol/log/checkpoint.ts';

/** A checkpoint as it was signed, and what it says. */
export interface KnownCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly signed: SignedCheckpoint;
}

/** Reads a checkpoint, and checks no signature. Throws `StatementError`. */
export function readCheckpoint(signed: SignedCheckpoint): KnownCheckpoint {
  return { checkpoint: checkpointStatement.parse(signed.text), signed };
}
