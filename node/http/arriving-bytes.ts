import { TimeSlices } from '../concurrency/time-slices.ts';

/** Memory from this size on is given back as soon as nobody needs it. In bytes. */
const LARGE_BYTES = 4 << 10;
/** A part is as long as all before it, within these bounds: what is set aside and not filled stays small. In bytes. */
const SHORTEST_PART_BYTES = 4 << 10;
const LONGEST_PART_BYTES = 1 << 20;

/**
 * Frees memory that nobody reads any more. V8 by itself looks for it when it next collects, tens of mebibytes later, and
 * the C library keeps what was freed between small pieces.
 */
export function giveBack({ buffer, byteLength }: Uint8Array): void {
  // Who has a part of some memory does not own it.
  const isWhole = byteLength === buffer.byteLength && byteLength >= LARGE_BYTES;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

interface Part {
  readonly bytes: Buffer;
  /** Bytes of it that have arrived. */
  filled: number;
}

/** The part is free afterwards. Returns how many bytes it had. */
function moveTo(whole: Buffer, at: number, { bytes, filled }: Part): number {
  const moved = bytes.copy(whole, at, 0, filled);
  giveBack(bytes);
  return moved;
}

/** The bytes of a body while they arrive: all pieces but the first are copied into longer parts, and freed at once. */
export class ArrivingBytes {
  readonly #parts: Part[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The piece is the caller's no more. */
  push(piece: Buffer): void {
    const { length } = piece;
    if (this.#length === 0) this.#parts.push({ bytes: piece, filled: length });
    else this.#copy(piece);
    this.#length += length;
  }

  /** All of them in memory of their own, put together in time slices. It has none afterwards. */
  async join(): Promise<Buffer<ArrayBuffer>> {
    const whole = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    await new TimeSlices().each(this.#take(), (part) => void (at += moveTo(whole, at, part)));
    return whole;
  }

  /** The same at once, of a body that is not long. */
  joinNow(): Buffer {
    const [first] = this.#parts;
    if (first !== undefined && this.#parts.length === 1) {
      this.#take();
      return first.bytes;
    }
    const whole = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const part of this.#take()) at += moveTo(whole, at, part);
    return whole;
  }

  clear(): void {
    for (const { bytes } of this.#take()) giveBack(bytes);
  }

  #copy(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      const part = this.#partWithRoom();
      const copied = piece.copy(part.bytes, part.filled, at);
      part.filled += copied;
      at += copied;
    }
    giveBack(piece);
  }

  #partWithRoom(): Part {
    const last = this.#parts.at(-1);
    if (last !== undefined && last.filled < last.bytes.length) return last;
    const length = Math.min(Math.max(this.#length, SHORTEST_PART_BYTES), LONGEST_PART_BYTES);
    const part = { bytes: Buffer.allocUnsafeSlow(length), filled: 0 };
    this.#parts.push(part);
    return part;
  }

  #take(): readonly Part[] {
    this.#length = 0;
    return this.#parts.splice(0);
  }
}
