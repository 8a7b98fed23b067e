import { decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { PeerStatementError } from './members/peer-statement-error.ts';

/** Frames of an answer that carries checkpoints: one of all else, then one a checkpoint, so that each is within its limit. */
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
