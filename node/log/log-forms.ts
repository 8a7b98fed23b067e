import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import { SignedCheckpointShape } from '../../protocol/log/checkpoint.ts';
import { Closed, CountShape } from '../../protocol/shapes.ts';
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

/** One frame a checkpoint, after one of all else: none is larger than a frame may be. */
export function* logFrames({ checkpoints, ...told }: LogAnswer): Generator<Uint8Array> {
  yield utf8(JSON.stringify(told));
  for (const checkpoint of checkpoints.slice(0, MAX_CHECKPOINTS)) yield utf8(JSON.stringify(checkpoint));
}

/** Reads the frames of an answer. Throws `PeerStatementError` `malformed`. */
export function readLogAnswer(frames: readonly Uint8Array[]): LogAnswer {
  const [told, ...checkpoints] = frames.map(readJson);
  const answer: unknown = { ...told, checkpoints };
  if (!compiled.Check(answer)) throw new PeerStatementError('malformed', 'an answer about the log of another shape');
  return answer;
}

function readJson(frame: Uint8Array): object {
  try {
    const value: unknown = JSON.parse(decodeUtf8(frame));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Falls through: it is no JSON.
  }
  throw new PeerStatementError('malformed', 'an answer about the log that is no JSON object');
}
