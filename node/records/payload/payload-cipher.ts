import { createDecipheriv } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import sodium from 'sodium-native';
import { concatBytes, decodeUtf8, utf8 } from '../../../protocol/bytes.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';

/** The length of the text, big-endian. */
const LENGTH_BYTES = 4;
/** 6 saves 2 % more of a usual payload, and takes twice as long for a large one. */
const LEVEL = 1;
/** Windows of zlib, as powers of two: no larger than the text needs, for what it is given it clears for each text. */
const WINDOW_BITS = { least: 12, most: 15 };
/** A table of as many entries as there are 256ths of the window (zlib's memLevel). */
const TABLE_BITS_FEWER = 8;
/** What zlib takes for a chunk at least. */
const MIN_CHUNK_BYTES = 64;
/** Longest text that is compressed: above what any request may hold. In bytes. */
export const MAX_PADDED_TEXT_BYTES = 16 << 20;

/**
 * A text of at most `MAX_PADDED_TEXT_BYTES`: its length, the text compressed (DEFLATE, RFC 1951), then zeros. The
 * length of it all is one of few (`paddedLength`).
 */
export function packText(text: Uint8Array): Uint8Array {
  const windowBits = windowBitsOf(text.length);
  const compressed = deflateRawSync(text, {
    level: LEVEL,
    windowBits,
    memLevel: windowBits - TABLE_BITS_FEWER,
    chunkSize: Math.max(MIN_CHUNK_BYTES, text.length),
  });
  const packed = Buffer.alloc(paddedLength(LENGTH_BYTES + compressed.length));
  packed.writeUInt32BE(text.length);
  packed.set(compressed, LENGTH_BYTES);
  return packed;
}

function windowBitsOf(length: number): number {
  const { least, most } = WINDOW_BITS;
  return Math.min(most, Math.max(least, Math.ceil(Math.log2(length))));
}

/** Throws where the bytes are not what `packText` makes of a text; never makes more of them than the longest. */
export function unpackText(packed: Uint8Array): string {
  const length = new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0);
  if (length > MAX_PADDED_TEXT_BYTES) throw new RangeError('a packed text says a length that none has');
  // A chunk of one byte more than the text fills it is not full at the end, so no other is made.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, length + 1);
  const text = inflateRawSync(packed.subarray(LENGTH_BYTES), { chunkSize, maxOutputLength: Math.max(1, length) });
  if (text.length !== length) throw new RangeError('a packed text is of another length than it says');
  return decodeUtf8(text);
}

/**
 * The next length that PADMÉ allows (Nikitin et al., PoPETs 2019, §4): 12 % more at most, 2 % of a usual payload. Of
 * the lengths between 512 and 1,024 bytes 16 are left, of those between a half and a whole mebibyte 32.
 */
export function paddedLength(length: number): number {
  if (length < 2) return length;
  const exponent = Math.floor(Math.log2(length));
  const step = 2 ** (exponent - Math.floor(Math.log2(exponent)) - 1);
  return Math.ceil(length / step) * step;
}

/** Of both ciphers, in bytes. */
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** A data key encrypts exactly one payload, so its nonce may be fixed. */
const NONCE = Buffer.alloc(12);

/** First byte of the seeds of payloads that are sealed with ChaCha20-Poly1305 (RFC 8439). */
const CHACHA20 = 1;
/**
 * The same cipher over a text that is compressed and padded (`packText`). 2 is what rows of keys say of earlier seeds.
 */
const CHACHA20_PACKED = 3;
export const SEED_BYTES = 1 + KEY_BYTES;
const KEY_WORD = utf8('meridian/data-key/2\0');

/** Payloads of earlier versions: AES-256-GCM, by seeds without a first byte that says so. */
const GCM_CIPHER = 'aes-256-gcm';
export const GCM_SEED_BYTES = KEY_BYTES;
const GCM_KEY_WORD = utf8('meridian/data-key/1\0');

/** Whether the first byte of a seed of `SEED_BYTES` names a cipher. */
export function namesCipher(first: number | undefined): boolean {
  return first === CHACHA20 || first === CHACHA20_PACKED;
}

/** Memory that small ciphertexts are cut from, and the longest that is. In bytes. */
const SHARED_BYTES = 64 << 10;
const MAX_SHARED_BYTES = 8 << 10;
let shared = Buffer.alloc(0);
/** Where one payload at a time is opened. */
const opened = Buffer.allocUnsafeSlow(SHARED_BYTES);

export class PayloadDamagedError extends Error {
  override readonly name = 'PayloadDamagedError';
}

export interface SealedPayload {
  /** Kept apart from the payload: without it the data key cannot be derived again, and the payload is gone for good. */
  readonly seed: Uint8Array;
  readonly ciphertext: Uint8Array;
}

export interface OpenedPayload {
  readonly salt: Uint8Array;
  /** RFC 8785 text of the payload. */
  readonly text: string;
}

/**
 * Encrypts payloads at rest, each under a key of its own: SHA-256(word ‖ node's payload key ‖ record's seed ‖ id). The
 * stored seed is useless without the node's payload key, and the payload key without the seed.
 */
export class PayloadCipher {
  readonly #payloadKey: Uint8Array;

  /** `payloadKey`: 32 bytes from the node's key file. */
  constructor(payloadKey: Uint8Array) {
    this.#payloadKey = payloadKey;
  }

  /**
   * By libsodium, into one buffer: OpenSSL's ciphers leave a native object each to the collector, at twice the time.
   */
  seal(id: RecordId, salt: Uint8Array, text: string): SealedPayload {
    const length = SALT_BYTES + Buffer.byteLength(text);
    const ciphertext = ciphertextBuffer(length + TAG_BYTES);
    ciphertext.write(text, SALT_BYTES);
    return this.#sealed(CHACHA20, id, salt, ciphertext);
  }

  /**
   * The same with a text that is compressed and padded: half the bytes of a usual payload, for 40 µs. One payload is
   * compressed with nothing but itself. A text too long for it is sealed as it is.
   */
  sealPacked(id: RecordId, salt: Uint8Array, text: string): SealedPayload {
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_PADDED_TEXT_BYTES) return this.seal(id, salt, text);
    const packed = packText(bytes);
    const ciphertext = ciphertextBuffer(SALT_BYTES + packed.length + TAG_BYTES);
    ciphertext.set(packed, SALT_BYTES);
    return this.#sealed(CHACHA20_PACKED, id, salt, ciphertext);
  }

  /** Throws `PayloadDamagedError` where seed, id and ciphertext do not belong together, byte for byte. */
  open(id: RecordId, { seed, ciphertext }: SealedPayload): OpenedPayload {
    if (ciphertext.length < SALT_BYTES + TAG_BYTES) throw new PayloadDamagedError(`the payload of ${id} is cut`);
    const plain = this.#plainOf(id, seed, ciphertext);
    if (plain === undefined) throw new PayloadDamagedError(`the payload of ${id} does not open`);
    const text = plain.subarray(SALT_BYTES);
    const isPacked = seed.length === SEED_BYTES && seed[0] === CHACHA20_PACKED;
    try {
      return {
        salt: new Uint8Array(plain.subarray(0, SALT_BYTES)),
        text: isPacked ? unpacked(id, text) : decodeUtf8(text),
      };
    } finally {
      // An erased payload is in no memory that outlives its reader.
      plain.fill(0);
    }
  }

  /** `ciphertext`: room for the salt, then the rest of what is sealed, then room for the tag. */
  #sealed(kind: number, id: RecordId, salt: Uint8Array, ciphertext: Buffer): SealedPayload {
    const seed = randomBytesPooled(SEED_BYTES);
    seed[0] = kind;
    ciphertext.set(salt);
    const plain = ciphertext.subarray(0, ciphertext.length - TAG_BYTES);
    sodium.crypto_aead_chacha20poly1305_ietf_encrypt(
      ciphertext,
      plain,
      null,
      null,
      NONCE,
      this.#dataKey(KEY_WORD, id, seed),
    );
    return { seed, ciphertext };
  }

  #plainOf(id: RecordId, seed: Uint8Array, ciphertext: Uint8Array): Uint8Array | undefined {
    if (seed.length === GCM_SEED_BYTES) return openGcm(this.#dataKey(GCM_KEY_WORD, id, seed), ciphertext);
    if (seed.length !== SEED_BYTES || !namesCipher(seed[0])) return undefined;
    const plain = plainBuffer(ciphertext.length - TAG_BYTES);
    try {
      sodium.crypto_aead_chacha20poly1305_ietf_decrypt(
        plain,
        null,
        ciphertext,
        null,
        NONCE,
        this.#dataKey(KEY_WORD, id, seed),
      );
      return plain;
    } catch {
      return undefined;
    }
  }

  #dataKey(word: Uint8Array, id: RecordId, seed: Uint8Array): Uint8Array {
    return nativeSuite.sha256(word, this.#payloadKey, seed, id);
  }
}

/** Ciphertexts of a group are let go of together: small ones share memory, whose every piece the collector tracks. */
function ciphertextBuffer(length: number): Buffer {
  if (length > MAX_SHARED_BYTES) return Buffer.allocUnsafeSlow(length);
  if (shared.length < length) shared = Buffer.allocUnsafeSlow(SHARED_BYTES);
  const room = shared.subarray(0, length);
  shared = shared.subarray(length);
  return room;
}

/** What is opened is read before the next is: memory of its own takes longer to make and let go. */
function plainBuffer(length: number): Buffer {
  return length > opened.length ? Buffer.allocUnsafeSlow(length) : opened.subarray(0, length);
}

/** Throws `PayloadDamagedError`, though none but this node can have sealed what is no packed text. */
function unpacked(id: RecordId, packed: Uint8Array): string {
  try {
    return unpackText(packed);
  } catch (error) {
    throw new PayloadDamagedError(`the payload of ${id} does not unpack`, { cause: error });
  }
}

/** Undefined where it does not open. */
function openGcm(key: Uint8Array, ciphertext: Uint8Array): Uint8Array | undefined {
  const tagAt = ciphertext.length - TAG_BYTES;
  const decipher = createDecipheriv(GCM_CIPHER, key, NONCE, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(ciphertext.subarray(tagAt));
  try {
    return concatBytes(decipher.update(ciphertext.subarray(0, tagAt)), decipher.final());
  } catch {
    return undefined;
  }
}
