import { Compile } from '../../protocol/shape-check.ts';
import {
  type Checkpoint,
  checkpointStatement,
  type SignedCheckpoint,
  SignedCheckpointShape,
} from '../../protocol/log/checkpoint.ts';
import { jsonCodec } from '../store/table.ts';

/** A checkpoint as it was signed, and what it says. */
export interface KnownCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly signed: SignedCheckpoint;
}

const compiled = Compile(SignedCheckpointShape);
/** How tables hold checkpoints. */
export const checkpointCodec = jsonCodec((value: unknown): value is SignedCheckpoint => compiled.Check(value));

/** Reads a checkpoint, and checks no signature. Throws `StatementError`. */
export function readCheckpoint(signed: SignedCheckpoint): KnownCheckpoint {
  return { checkpoint: checkpointStatement.parse(signed.text), signed };
}
