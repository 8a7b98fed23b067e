import Type, { type Static } from 'typebox';
import { decodeUtf8, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { type SignedCheckpoint, SignedCheckpointShape } from '../../protocol/log/checkpoint.ts';
import { Compile } from '../../protocol/shape-check.ts';
import { Closed, CountShape } from '../../protocol/shapes.ts';
import { TopicPointShape } from '../anchoring/ledger/topic-point.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { PeerStatementError } from './members/peer-statement-error.ts';

/** Checkpoints of one answer at most: the newest two of each member of the largest roster, and of some that left. */
const MAX_CHECKPOINTS = 1_024;
/** Of the SHA-256 of a checkpoint's text, what tells it from the others that a member holds. */
const MARK_BYTES = 12;

/** `log` protocol: asks for what a member says of the ledger, and for the checkpoints that the asker does not hold. */
const LogRequestShape = Closed({
  /** Marks of those that it holds. */
  held: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_-]{16}$' }), { maxItems: MAX_CHECKPOINTS }),
});

/** `log` protocol: what a member says of the ledger, and checkpoints that it holds and the asker does not. */
const LogAnswerShape = Closed({
  /** The member's clock, in epoch milliseconds. */
  clock: CountShape,
  told: TopicPointShape,
  checkpoints: Type.Array(SignedCheckpointShape, { maxItems: MAX_CHECKPOINTS }),
});
export type LogAnswer = Static<typeof LogAnswerShape>;

const compiled = Compile(LogAnswerShape);
const compiledRequest = Compile(LogRequestShape);

/** The request of a member that holds these checkpoints. */
export function logRequest(held: readonly SignedCheckpoint[]): Uint8Array {
  return utf8(JSON.stringify({ held: held.slice(0, MAX_CHECKPOINTS).map(markOf) }));
}

/** Whether whoever sent the request lacks a checkpoint. Throws `PeerStatementError` `malformed`. */
export function readLogRequest(request: Uint8Array): (checkpoint: SignedCheckpoint) => boolean {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(request));
  } catch {
    throw new PeerStatementError('malformed', 'a question about the log that is no JSON');
  }
  if (!compiledRequest.Check(value)) {
    throw new PeerStatementError('malformed', 'a question about the log of another shape');
  }
  const held = new Set(value.held);
  return (checkpoint) => !held.has(markOf(checkpoint));
}

export function logFrames({ checkpoints, ...told }: LogAnswer): Generator<Uint8Array> {
  return checkpointFrames(told, checkpoints.slice(0, MAX_CHECKPOINTS));
}

/** Reads the frames of an answer. Throws `PeerStatementError` `malformed`. */
export function readLogAnswer(frames: readonly Uint8Array[]): LogAnswer {
  const answer = readCheckpointFrames(frames);
  if (!compiled.Check(answer)) throw new PeerStatementError('malformed', 'an answer about the log of another shape');
  return answer;
}

function markOf({ text }: SignedCheckpoint): string {
  return encodeBase64url(nativeSuite.sha256(utf8(text)).subarray(0, MARK_BYTES));
}

/**
 * Frames of an answer that carries checkpoints: one of all else, then one a checkpoint, so that each is within its
 * limit.
 */
export function* checkpointFrames(told: object, checkpoints: readonly SignedCheckpoint[]): Generator<Uint8Array> {
  yield utf8(JSON.stringify(told));
  for (const checkpoint of checkpoints) yield utf8(JSON.stringify(checkpoint));
}

/** What such frames come to, of whatever shape. Throws `PeerStatementError` `malformed` where one is no JSON object. */
export function readCheckpointFrames(frames: readonly Uint8Array[]): unknown {
  const [told, ...checkpoints] = frames.map(readObject);
  return { ...told, checkpoints };
}

function readObject(frame: Uint8Array): object {
  try {
    const value: unknown = JSON.parse(decodeUtf8(frame));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Falls through: it is no JSON.
  }
  throw new PeerStatementError('malformed', 'a frame that is no JSON object');
}
