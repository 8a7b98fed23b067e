import type { Static } from 'typebox';
import { type Sha384Hash, writeSha384 } from '../../../protocol/hash.ts';
import { RUNNING_HASH_BYTES } from '../../../protocol/ledger/running-hash.ts';
import { Closed, CountShape, Sha384Shape } from '../../../protocol/shapes.ts';

/** A place on the topic and its running hash after it, which covers every message up to there. */
export const TopicPointShape = Closed({
  /** Sequence number of the message; 0 before the first. */
  sequence: CountShape,
  runningHash: Sha384Shape,
});
export type TopicPoint = Readonly<Static<typeof TopicPointShape>>;

interface SequenceNumber {
  toString(): string;
}

/** The place that consensus nodes tell; null for a number or a hash that no topic has. */
export function readPoint(sequence: SequenceNumber | null, runningHash: Uint8Array | null): TopicPoint | null {
  const number = sequence === null ? Number.NaN : Number(sequence.toString());
  if (runningHash?.length !== RUNNING_HASH_BYTES || !Number.isSafeInteger(number) || number < 0) return null;
  const hash: Sha384Hash = writeSha384(runningHash);
  return { sequence: number, runningHash: hash };
}
