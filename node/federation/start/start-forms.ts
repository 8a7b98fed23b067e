import Type, { type Static } from 'typebox';
import { Compile } from '../../../protocol/shape-check.ts';
import { SignedCheckpointShape } from '../../../protocol/log/checkpoint.ts';
import { Closed, CountShape } from '../../../protocol/shapes.ts';
import { checkpointFrames, readCheckpointFrames } from '../../log/checkpoint-frames.ts';
import { PeerStatementError } from '../../log/members/peer-statement-error.ts';

/** Checkpoints of one answer at most: the newest by each of a member's last keys, and one that is not judged yet. */
const MAX_CHECKPOINTS = 4;

/** `start` protocol: what a member tells one that has started. */
const StartAnswerShape = Closed({
  /** The asker's last batch that is held here; 0 for none. */
  batch: CountShape,
  /** The asker's own checkpoints that are known here. */
  checkpoints: Type.Array(SignedCheckpointShape, { maxItems: MAX_CHECKPOINTS }),
});
export type StartAnswer = Static<typeof StartAnswerShape>;

const compiled = Compile(StartAnswerShape);

/** `start` protocol: asks how far the asker's own chain is held. */
export const START_REQUEST = new Uint8Array();

export function startFrames({ batch, checkpoints }: StartAnswer): Generator<Uint8Array> {
  return checkpointFrames({ batch }, checkpoints.slice(0, MAX_CHECKPOINTS));
}

/** Reads the frames of an answer. Throws `PeerStatementError` `malformed`. */
export function readStartAnswer(frames: readonly Uint8Array[]): StartAnswer {
  if (frames.length > MAX_CHECKPOINTS + 1) throw malformed();
  const answer = readCheckpointFrames(frames);
  if (!compiled.Check(answer)) throw malformed();
  return answer;
}

function malformed(): PeerStatementError {
  return new PeerStatementError('malformed', 'an answer to a start of another shape');
}
