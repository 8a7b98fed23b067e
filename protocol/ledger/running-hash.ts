export type Sha384 = (data: Uint8Array) => Uint8Array;

export interface EntityNumber {
  readonly shard: bigint;
  readonly realm: bigint;
  readonly num: bigint;
}

export interface RunningHashInput {
  /** Running hash before this message, 48 bytes. */
  readonly previous: Uint8Array;
  readonly payer: EntityNumber;
  readonly topic: EntityNumber;
  /** Consensus timestamp: whole seconds since the epoch. */
  readonly seconds: bigint;
  /** Consensus timestamp: nanoseconds within the second. */
  readonly nanos: number;
  /** Sequence number of this message, from 1. */
  readonly sequence: bigint;
  readonly message: Uint8Array;
}

export const RUNNING_HASH_VERSION = 3;
export const RUNNING_HASH_BYTES = 48;

/** Where every topic starts: 48 zero bytes. Shared by all readers, who never write to it. */
export const INITIAL_RUNNING_HASH: Readonly<Uint8Array> = new Uint8Array(RUNNING_HASH_BYTES);

// The consensus node feeds the digest through a java.io.ObjectOutputStream, so the preimage carries Java's framing:
// the stream header and the class descriptor of byte[] before the first hash, a back reference before the second.
const STREAM_HEADER = Uint8Array.of(0xac, 0xed, 0x00, 0x05);
const BYTE_ARRAY_CLASS = Uint8Array.from(
  [0x75, 0x72, 0, 2, 0x5b, 0x42, 0xac, 0xf3, 0x17, 0xf8, 6, 8, 0x54, 0xe0, 2, 0, 0, 0x78, 0x70], // '[B'
);
const BYTE_ARRAY_REFERENCE = Uint8Array.of(0x75, 0x71, 0x00, 0x7e, 0x00, 0x00);
const BLOCK_DATA = 0x77;
const BLOCK_DATA_BYTES = 9 * 8 + 4;
const PREIMAGE_BYTES =
  STREAM_HEADER.length +
  BYTE_ARRAY_CLASS.length +
  (4 + RUNNING_HASH_BYTES) +
  (2 + BLOCK_DATA_BYTES) +
  BYTE_ARRAY_REFERENCE.length +
  (4 + RUNNING_HASH_BYTES);

/**
 * Running hash of an HCS topic after one more message, version 3, byte for byte as the consensus node computes it:
 * SHA-384 over the serialised previous hash, version, payer, topic, consensus time, sequence and SHA-384(message).
 *
 * @param sha384 returns the 48-byte digest of its argument
 * @returns 48 bytes
 * @throws RangeError if the previous hash or a digest is not 48 bytes, or the nanoseconds are not in 0..999,999,999
 */
export function nextRunningHash(sha384: Sha384, input: RunningHashInput): Uint8Array {
  if (!Number.isInteger(input.nanos) || input.nanos < 0 || input.nanos > 999_999_999) {
    throw new RangeError('nanos must be an integer in 0..999999999');
  }
  const preimage = new Uint8Array(PREIMAGE_BYTES);
  const view = new DataView(preimage.buffer);
  let at = put(preimage, 0, STREAM_HEADER);
  at = put(preimage, at, BYTE_ARRAY_CLASS);
  at = putHash(preimage, at, input.previous);
  preimage[at++] = BLOCK_DATA;
  preimage[at++] = BLOCK_DATA_BYTES;
  for (const value of blockData(input)) {
    view.setBigInt64(at, value);
    at += 8;
  }
  view.setInt32(at, input.nanos);
  view.setBigInt64(at + 4, input.sequence);
  at = put(preimage, at + 12, BYTE_ARRAY_REFERENCE);
  putHash(preimage, at, sha384(input.message));
  const next = sha384(preimage);
  if (next.length !== RUNNING_HASH_BYTES) throw new RangeError('sha384 must return 48 bytes');
  return next;
}

function blockData({ payer, topic, seconds }: RunningHashInput): bigint[] {
  const version = BigInt(RUNNING_HASH_VERSION);
  return [version, payer.shard, payer.realm, payer.num, topic.shard, topic.realm, topic.num, seconds];
}

function putHash(into: Uint8Array, at: number, hash: Uint8Array): number {
  if (hash.length !== RUNNING_HASH_BYTES) throw new RangeError('a running hash has 48 bytes');
  new DataView(into.buffer).setUint32(at, hash.length);
  return put(into, at + 4, hash);
}

function put(into: Uint8Array, at: number, bytes: Uint8Array): number {
  into.set(bytes, at);
  return at + bytes.length;
}
