/** Byte strings one after another, each behind its length: how several small things share one row. */
const LENGTH_BYTES = 4;

export function joinFrames(frames: readonly Uint8Array[]): Uint8Array {
  const total = frames.reduce((sum, frame) => sum + LENGTH_BYTES + frame.length, 0);
  const joined = Buffer.allocUnsafe(total);
  let at = 0;
  for (const frame of frames) {
    at = joined.writeUInt32BE(frame.length, at);
    joined.set(frame, at);
    at += frame.length;
  }
  return joined;
}

/** Throws `RangeError` where the lengths do not fill the bytes exactly. */
export function splitFrames(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const length = view.getUint32(at);
    const end = at + LENGTH_BYTES + length;
    if (end > bytes.length) throw new RangeError('a frame runs past its row');
    frames.push(bytes.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return frames;
}
