import { TransportError } from './errors.ts';
import type { TransportErrorCode } from './errors.ts';

/**
 * Wire form of requests and answers: one kind byte, the body's length in four bytes (big-endian), the body. A request
 * is one data frame. An answer is data frames, then exactly one frame of another kind, without body, that says how it
 * ended.
 */
export const HEADER_BYTES = 5;

const DATA = 0;
const END = 1;

/** Codes that a server may give its caller, by the kind byte that carries them. */
const REFUSALS = { busy: 2, refused: 3, 'too-large': 4, malformed: 5, failed: 6 } as const satisfies Partial<
  Record<TransportErrorCode, number>
>;

export type Refusal = keyof typeof REFUSALS;
export type FrameKind = 'data' | 'end' | Refusal;

export interface FrameHeader {
  readonly kind: FrameKind;
  /** Body length in bytes. */
  readonly length: number;
}

export function dataFrame(body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + body.length);
  frame[0] = DATA;
  new DataView(frame.buffer).setUint32(1, body.length);
  frame.set(body, HEADER_BYTES);
  return frame;
}

/** The last frame of an answer: its end marker, or why there is no more. */
export function lastFrame(kind: 'end' | Refusal): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES);
  frame[0] = kind === 'end' ? END : REFUSALS[kind];
  return frame;
}

/**
 * Reads a frame's header.
 * @throws TransportError `malformed` for an unknown kind or a last frame with a body, `too-large` over `most` body
 * bytes
 */
export function parseHeader(bytes: Uint8Array, most: number): FrameHeader {
  const kind = kindOf(bytes[0]);
  const length = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES).getUint32(1);
  if (kind === null || (kind !== 'data' && length > 0)) {
    throw new TransportError('malformed', 'a frame header cannot be read');
  }
  if (length > most) throw new TransportError('too-large', `a frame of ${length} bytes is over ${most}`);
  return { kind, length };
}

export function isRefusal(code: string): code is Refusal {
  return Object.hasOwn(REFUSALS, code);
}

function kindOf(byte: number | undefined): FrameKind | null {
  if (byte === DATA) return 'data';
  if (byte === END) return 'end';
  for (const [code, kind] of Object.entries(REFUSALS)) if (kind === byte && isRefusal(code)) return code;
  return null;
}
