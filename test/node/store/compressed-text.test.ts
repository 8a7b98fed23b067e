import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { constants, crc32, zstdCompressSync } from 'node:zlib';
import {
  checksumOf,
  compressedTextCodec,
  MAX_COMPRESSED_BYTES,
  MIN_COMPRESSED_BYTES,
  openedLengthOf,
} from '../../../node/store/compressed-text.ts';
import { textCodec } from '../../../node/store/table.ts';
import { fc } from '../../fixtures/properties.ts';

const LONG = Array.from(
  { length: 100 },
  (_, i) => `{"kind":"decision","note":"é","seq":${i},"sourceId":"triage"}`,
).join('\n');

/** A value that says to be a text of this length, its checksum right. */
function forged(text: string, length: number, frame: Uint8Array = zstdCompressSync(text)): Uint8Array {
  const bytes = Buffer.alloc(9 + frame.length, 0xff);
  bytes.writeUInt32BE(length, 5);
  bytes.set(frame, 9);
  bytes.writeUInt32BE(crc32(bytes.subarray(5)), 1);
  return bytes;
}

test('a text comes back as it was, whatever its length, and is never longer than it is plain', () => {
  const text = fc.tuple(fc.string({ unit: 'grapheme' }), fc.nat(2_000)).map(([part, times]) => part.repeat(times));
  fc.assert(
    fc.property(text, (given) => {
      const stored = compressedTextCodec.encode(given);
      assert.is(compressedTextCodec.decode(stored), given);
      assert.ok(stored.length <= Buffer.byteLength(given));
    }),
  );
});

test('texts of records take less than a quarter', () => {
  const stored = compressedTextCodec.encode(LONG);
  assert.is.not(checksumOf(stored), undefined);
  assert.ok(stored.length * 4 < Buffer.byteLength(LONG), `${stored.length} bytes`);
});

test('what was written plain is read, and no plain text is taken for a compressed one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const plain = textCodec.encode(text);
      assert.is(checksumOf(plain), undefined);
      assert.is(compressedTextCodec.decode(plain), text);
    }),
  );
  assert.is(compressedTextCodec.decode(textCodec.encode(LONG)), LONG);
});

test('who reads plain texts alone refuses a compressed one', () => {
  assert.throws(() => textCodec.decode(compressedTextCodec.encode(LONG)), /UTF-8/);
});

test('short texts, very long ones and those that would not shrink stay plain', () => {
  const short = 'x'.repeat(MIN_COMPRESSED_BYTES - 1);
  const long = 'x'.repeat(MAX_COMPRESSED_BYTES + 1);
  for (const text of [short, long]) assert.is(compressedTextCodec.encode(text).length, text.length);
  assert.is.not(checksumOf(compressedTextCodec.encode(`${short}x`)), undefined);
});

test('a flip of any bit, and any cut or addition, is refused', () => {
  const stored = Buffer.from(compressedTextCodec.encode(LONG));
  for (let bit = 0; bit < stored.length * 8; bit++) {
    const flipped = Buffer.from(stored);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => compressedTextCodec.decode(flipped), undefined, `bit ${bit}`);
  }
  for (let length = 1; length < stored.length; length++) {
    assert.throws(() => compressedTextCodec.decode(stored.subarray(0, length)), undefined, `cut to ${length}`);
  }
  assert.throws(() => compressedTextCodec.decode(Buffer.concat([stored, Buffer.of(0)])), /damaged/);
});

test('a forged value opens to no more than it says, and says no more than the longest text', () => {
  const bomb = '0'.repeat(64 << 20);
  for (const length of [0, MIN_COMPRESSED_BYTES - 1, MAX_COMPRESSED_BYTES + 1, 2 ** 32 - 1]) {
    assert.throws(() => compressedTextCodec.decode(forged(bomb, length)), /a length that none has/);
  }
  assert.throws(() => compressedTextCodec.decode(forged(bomb, MAX_COMPRESSED_BYTES)), /larger than/);
  assert.throws(() => compressedTextCodec.decode(forged(LONG, LONG.length * 2)), /another length/);
  assert.is(compressedTextCodec.decode(forged(LONG, Buffer.byteLength(LONG))), LONG);
});

/** A zstd frame of blocks that are stored as they are (RFC 8878 §3.1.1), of a window of 2 to the power `windowLog`. */
function rawFrame(text: string, windowLog: number): Uint8Array {
  const header = Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3, 0, 0, 0);
  header.writeUIntLE((Buffer.byteLength(text) << 3) | 1, 6, 3);
  return Buffer.concat([header, Buffer.from(text)]);
}

test('a frame that makes its reader hold more than the longest text is refused', () => {
  for (const [windowLog, isRead] of [
    [20, true],
    [27, false],
  ] as const) {
    const value = forged(LONG, Buffer.byteLength(LONG), rawFrame(LONG, windowLog));
    if (isRead) assert.is(compressedTextCodec.decode(value), LONG);
    else assert.throws(() => compressedTextCodec.decode(value), /memory/);
  }
});

test('a value is one frame: what is behind or before it is refused, whatever the decoder makes of it', () => {
  const [one, length] = [zstdCompressSync(LONG), Buffer.byteLength(LONG)];
  const skippable = Buffer.of(0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4);
  const halves = [LONG.slice(0, 2_000), LONG.slice(2_000)].map((half) => zstdCompressSync(half));
  const several: readonly (readonly Uint8Array[])[] = [
    [one, Buffer.alloc(100)],
    [one, Buffer.of(0)],
    [one, one],
    [one, zstdCompressSync('')],
    [one, skippable],
    [skippable, one],
    halves,
  ];
  for (const parts of several) {
    const value = forged(LONG, length, Buffer.concat(parts));
    assert.throws(() => compressedTextCodec.decode(value), /no zstd frame|not one frame/);
  }
});

test('frames of every kind of header are read', () => {
  const length = Buffer.byteLength(LONG);
  const repeated = 'r'.repeat(300_000);
  for (const checksum of [0, 1]) {
    for (const size of [0, 1]) {
      const params = { [constants.ZSTD_c_checksumFlag]: checksum, [constants.ZSTD_c_contentSizeFlag]: size };
      for (const pledged of [{}, { pledgedSrcSize: length }]) {
        const frame = zstdCompressSync(LONG, { params, ...pledged });
        assert.is(compressedTextCodec.decode(forged(LONG, length, frame)), LONG);
      }
      const frame = zstdCompressSync(repeated, { params });
      assert.is(compressedTextCodec.decode(forged(repeated, repeated.length, frame)), repeated);
    }
  }
});

test('a compressed text says how long it is', () => {
  assert.is(openedLengthOf(compressedTextCodec.encode(LONG)), Buffer.byteLength(LONG));
  assert.is(openedLengthOf(textCodec.encode(LONG)), undefined);
});

test.run();
