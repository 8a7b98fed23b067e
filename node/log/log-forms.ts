import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { SignedCheckpointShape } from '../../protocol/log/checkpoint.ts';
import { Closed, CountShape } from '../../protocol/shapes.ts';
import { checkpointFrames, readCheckpointFrames } from '../federation/checkpoint-frames.ts';
import { PeerStatementError } from '../federation/peer-statement-error.ts';
import { TopicPointShape } from '../topic/topic-point.ts';

/** Checkpoints of one answer at most: the newest two of each member of the largest roster, and of some that left. */
const MAX_CHECKPOINTS = 1_024;

/** `log` protocol: what a member says of the ledger, and the checkpoints that it holds. */
const LogAnswerShape = Closed({
  /** The member's clock, in epoch milliseconds. */
  clock: CountShape,
  told: TopicPointShape,
  checkpoints: Type.Array(SignedCheckpointShape, { maxItems: MAX_CHECKPOINTS }),
});
export type LogAnswer = Static<typeof LogAnswerShape>;

const compiled = Compile(LogAnswerShape);

/** `log` protocol: asks for all of it. */
export const LOG_REQUEST = new Uint8Array();

export function logFrames({ checkpoints, ...told }: LogAnswer): Generator<Uint8Array> {
  return checkpointFrames(told, checkpoints.slice(0, MAX_CHECKPOINTS));
}

/** Reads the frames of an answer. Throws `PeerStatementError` `malformed`. */
export function readLogAnswer(frames: readonly Uint8Array[]): LogAnswer {
  const answer = readCheckpointFrames(frames);
  if (!compiled.Check(answer)) throw new PeerStatementError('malformed', 'an answer about the log of another shape');
  return answer;
}
