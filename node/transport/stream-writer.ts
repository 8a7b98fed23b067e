import { setTimeout as sleep } from 'node:timers/promises';
import { TransportError } from './errors.ts';
import type { Stream } from '@libp2p/interface';

/** How often a full stream is looked at, in milliseconds. */
const POLL_INTERVAL = 5;

/**
 * Sends bytes, and returns once at most `unsentBytes` of the stream wait. The length is polled because `onDrain`
 * resolves while the buffer is still full.
 * @throws TransportError `cut` once the stream is closed; the signal's reason
 */
export async function sendPaced(
  stream: Stream,
  bytes: Uint8Array,
  unsentBytes: number,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  assertWritable(stream);
  stream.send(bytes);
  while (stream.writeBufferLength > unsentBytes) {
    await sleep(POLL_INTERVAL, undefined, { signal });
    assertWritable(stream);
  }
}

/** A stream that the peer reset keeps its unsent bytes for ever. */
function assertWritable(stream: Stream) {
  if (stream.writeStatus !== 'writable') throw new TransportError('cut', 'the peer closed the stream');
}
