import { decodeUtf8, wellFormed } from '../../protocol/bytes.ts';
import { hashBytes, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import { recordId } from '../../protocol/ids.ts';
import { SALT_BYTES } from '../../protocol/payload/commitment.ts';
import { joinFrames, splitFrames } from '../store/frames.ts';
import type { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { type DraftTexts, sealDraft, type SealedDraft } from './draft.ts';

/**
 * What follows in a packed draft, in the first byte of its second frame; the salt stands behind it where it is given.
 */
const HAS_DECISION = 1;
const INPUT_IS_DATA = 2;
const HAS_OUTPUT = 4;
const COMPRESS_PAYLOAD = 8;

/** Frames of a sealed draft. */
const SEALED_FRAMES = 6;
const LENGTH_BYTES = 4;
const NOTHING = new Uint8Array(0);

/**
 * Texts of drafts as the frames of one buffer of its own, which another thread can be given. Throws where a draft
 * cannot be prepared: what would not arrive as it is must not be committed to.
 */
export class DraftPacker {
  #frames: (Uint8Array | string)[] = [];
  #bytes = 0;
  #size = 0;

  /** Drafts added so far. */
  get size(): number {
    return this.#size;
  }

  /** All of the drafts, or none. */
  add(drafts: readonly DraftTexts[]): void {
    const frames = drafts.flatMap(framesOf);
    let bytes = 0;
    for (const frame of frames) bytes += LENGTH_BYTES + Buffer.byteLength(frame);
    for (const frame of frames) this.#frames.push(frame);
    this.#bytes += bytes;
    this.#size += drafts.length;
  }

  pack(): Uint8Array<ArrayBuffer> {
    const packed = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const frame of this.#frames) {
      const start = at + LENGTH_BYTES;
      if (typeof frame === 'string') {
        const length = packed.write(frame, start);
        packed.writeUInt32BE(length, at);
        at = start + length;
      } else {
        packed.set(frame, start);
        packed.writeUInt32BE(frame.length, at);
        at = start + frame.length;
      }
    }
    return packed;
  }
}

/** The drafts of a packed buffer, in order. */
export function* unpackDrafts(packed: Uint8Array): Generator<DraftTexts> {
  const frames = splitFrames(packed).values();
  for (const id of frames) {
    const form = taken(frames);
    const [flags = 0] = form;
    const named = { id: recordId(decodeUtf8(id)), payload: decodeUtf8(taken(frames)) };
    const texts = (flags & COMPRESS_PAYLOAD) === 0 ? named : { ...named, compressPayload: true };
    const salted = form.length > 1 ? { ...texts, salt: form.subarray(1) } : texts;
    if ((flags & HAS_DECISION) === 0) {
      yield salted;
      continue;
    }
    const data = decodeUtf8(taken(frames));
    const input = (flags & INPUT_IS_DATA) === 0 ? decodeUtf8(taken(frames)) : data;
    const output = (flags & HAS_OUTPUT) === 0 ? undefined : decodeUtf8(taken(frames));
    yield { ...salted, decision: { data, input, output } };
  }
}

/** What a thread does with packed drafts: as many packed sealed ones. */
export function sealPacked(packed: Uint8Array, cipher: PayloadCipher): Uint8Array<ArrayBuffer> {
  return packSealed([...unpackDrafts(packed)].map((draft) => sealDraft(draft, cipher)));
}

/** Sealed drafts as the frames of one buffer of its own. */
export function packSealed(sealed: readonly SealedDraft[]): Uint8Array<ArrayBuffer> {
  const frames = sealed.flatMap(({ payloadHash, hashes, sealed: { seed, ciphertext } }) => [
    hashBytes(payloadHash),
    ...[hashes.dataHash, hashes.inputHash, hashes.outputHash].map((hash) =>
      hash === undefined ? NOTHING : hashBytes(hash),
    ),
    seed,
    ciphertext,
  ]);
  return new Uint8Array(joinFrames(frames));
}

/** Throws `RangeError` where the buffer does not hold so many. Seeds and ciphertexts are parts of the buffer. */
export function unpackSealed(packed: Uint8Array, count: number): readonly SealedDraft[] {
  const frames = splitFrames(packed);
  if (frames.length !== count * SEALED_FRAMES) throw new RangeError('the thread sealed another number of drafts');
  const rest = frames.values();
  return Array.from({ length: count }, () => {
    const payloadHash = writeSha256(taken(rest));
    const [dataHash, inputHash, outputHash] = [hashOf(taken(rest)), hashOf(taken(rest)), hashOf(taken(rest))];
    const hashes = {
      ...(dataHash === undefined ? {} : { dataHash }),
      ...(inputHash === undefined ? {} : { inputHash }),
      ...(outputHash === undefined ? {} : { outputHash }),
    };
    return { payloadHash, hashes, sealed: { seed: taken(rest), ciphertext: taken(rest) } };
  });
}

function framesOf({
  id,
  salt,
  payload,
  decision,
  compressPayload = false,
}: DraftTexts): readonly (Uint8Array | string)[] {
  if (salt !== undefined && salt.length !== SALT_BYTES) throw new RangeError(`a salt has ${SALT_BYTES} bytes`);
  const form = new Uint8Array(1 + (salt?.length ?? 0));
  form.set(salt ?? NOTHING, 1);
  const compress = compressPayload ? COMPRESS_PAYLOAD : 0;
  form[0] = compress;
  const frames = [id, form, wellFormed(payload)];
  if (decision === undefined) return frames;
  const { data, input, output } = decision;
  frames.push(wellFormed(data));
  form[0] = compress | HAS_DECISION;
  if (input === data) form[0] |= INPUT_IS_DATA;
  else frames.push(wellFormed(input));
  if (output === undefined) return frames;
  form[0] |= HAS_OUTPUT;
  frames.push(wellFormed(output));
  return frames;
}

function hashOf(digest: Uint8Array): Sha256Hash | undefined {
  return digest.length === 0 ? undefined : writeSha256(digest);
}

function taken(frames: Iterator<Uint8Array>): Uint8Array {
  const { value, done } = frames.next();
  if (done === true) throw new RangeError('a frame is missing');
  return value;
}
