import { deflateRawSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  MAX_PADDED_TEXT_BYTES,
  packText,
  paddedLength,
  unpackText,
} from '../../../../node/records/payload/payload-cipher.ts';
import { fc } from '../../../fixtures/properties.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** What says to be a text of this length. */
function forged(text: string, length: number): Uint8Array {
  const said = Buffer.alloc(4);
  said.writeUInt32BE(length);
  return Buffer.concat([said, deflateRawSync(text)]);
}

test('a text comes back as it was, whatever its length', () => {
  const text = fc.tuple(fc.string({ unit: 'grapheme' }), fc.nat(2_000)).map(([part, times]) => part.repeat(times));
  fc.assert(fc.property(text, (given) => assert.is(unpackText(packText(bytes(given))), given)));
  for (const given of ['', 'a', 'x'.repeat(3 << 20)]) assert.is(unpackText(packText(bytes(given))), given);
});

test('padding adds 12 % at most, never takes away, and leaves few lengths', () => {
  const left = new Set<number>();
  for (let length = 0; length < 70_000; length++) {
    const padded = paddedLength(length);
    assert.ok(padded >= length && padded <= length * 1.12, `${length} → ${padded}`);
    assert.is(paddedLength(padded), padded);
    if (length >= 512 && length < 1_024) left.add(padded);
  }
  assert.is(left.size, 17);
});

test('payloads that differ by a few characters are of one length', () => {
  const lengths = Array.from(
    { length: 12 },
    (_, i) => packText(bytes(`{"n":${i},"text":"${'word '.repeat(200)}"}`)).length,
  );
  assert.is(new Set(lengths).size, 1, lengths.join(' '));
});

test('what says another length than it has, or one that none has, is refused', () => {
  const bomb = '0'.repeat(MAX_PADDED_TEXT_BYTES + 1);
  assert.throws(() => unpackText(forged(bomb, bomb.length)), /a length that none has/);
  assert.throws(() => unpackText(forged(bomb, 2 ** 32 - 1)), /a length that none has/);
  for (const length of [0, 10, 1_000]) assert.throws(() => unpackText(forged(bomb, length)), /larger than/);
  assert.throws(() => unpackText(forged('text', 5)), /another length/);
  assert.throws(() => unpackText(packText(bytes('text')).subarray(0, 5)));
  assert.throws(() => unpackText(new Uint8Array(3)));
});

test.run();
