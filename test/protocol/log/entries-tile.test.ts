import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeHex, utf8 } from '../../../protocol/bytes.ts';
import { decodeEntries, encodeEntries, EntriesTileError, MAX_ENTRY_BYTES } from '../../../protocol/log/entries-tile.ts';
import { fc } from '../../fixtures/properties.ts';

test('an entry stands after its length, in two bytes with the high one first', () => {
  assert.is(encodeHex(encodeEntries([utf8('ab'), new Uint8Array(), utf8('c')])), '000261620000000163');
  const long = new Uint8Array(258).fill(7);
  assert.is(encodeHex(encodeEntries([long]).subarray(0, 4)), '01020707');
});

test('entries are read back as they were written', () => {
  const entry = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 256 }), (entries) => {
      assert.equal(decodeEntries(encodeEntries(entries), entries.length).map(encodeHex), entries.map(encodeHex));
    }),
    { numRuns: 100 },
  );
});

test('an entry has at most 65,535 bytes', () => {
  const longest = new Uint8Array(MAX_ENTRY_BYTES).fill(1);
  const tile = encodeEntries([longest, longest]);
  assert.is(tile.length, 2 * (2 + 65_535));
  assert.equal(
    decodeEntries(tile, 2).map((entry) => entry.length),
    [65_535, 65_535],
  );
  assert.throws(() => encodeEntries([new Uint8Array(MAX_ENTRY_BYTES + 1)]), isEntriesTileError);
});

test('a tile that is cut off, has bytes left over, or has another number of entries is refused', () => {
  const entries = [utf8('one'), utf8('two'), new Uint8Array()];
  const tile = encodeEntries(entries);
  for (let length = 0; length < tile.length; length++) {
    assert.throws(() => decodeEntries(tile.subarray(0, length), 3), isEntriesTileError, `${length} bytes`);
  }
  assert.throws(() => decodeEntries(Uint8Array.from([...tile, 0]), 3), isEntriesTileError);
  for (const width of [0, 1, 2, 4, 257, -1, 2.5, Number.NaN]) {
    assert.throws(() => decodeEntries(tile, width), isEntriesTileError, `${width} entries`);
  }
});

test('a tile has 1 to 256 entries', () => {
  const many = Array.from({ length: 257 }, () => new Uint8Array());
  assert.throws(() => encodeEntries([]), isEntriesTileError);
  assert.throws(() => encodeEntries(many), isEntriesTileError);
  assert.is(decodeEntries(encodeEntries(many.slice(1)), 256).length, 256);
  assert.throws(() => decodeEntries(new Uint8Array(2 * 257), 257), isEntriesTileError);
});

function isEntriesTileError(error: unknown): boolean {
  return error instanceof EntriesTileError;
}

test.run();
