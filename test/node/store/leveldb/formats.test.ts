import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { crc32c, maskCrc } from '../../../../node/store/leveldb/crc32c.ts';
import { FormatError, FormatReader } from '../../../../node/store/leveldb/format-reader.ts';
import { decompressSnappy } from '../../../../node/store/leveldb/table-block.ts';
import { applyEdit, emptyVersion } from '../../../../node/store/leveldb/version-edits.ts';
import { fc } from '../../../fixtures/properties.ts';

const isFormatError = (error: Error): boolean => error instanceof FormatError;

test('CRC-32C matches RFC 3720 and the check value of the polynomial', () => {
  assert.is(crc32c(Buffer.from('123456789')), 0xe3069283);
  assert.is(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  assert.is(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43);
  assert.is(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i))), 0x46dd794e);
  assert.is(crc32c(Buffer.alloc(0)), 0);
});

test('CRC-32C continues over any split', () => {
  const property = fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, cut) => {
    assert.is(crc32c(bytes.subarray(cut), crc32c(bytes.subarray(0, cut))), crc32c(bytes));
  });
  fc.assert(property);
});

test('masking rotates and adds, within 32 bits', () => {
  assert.is(maskCrc(0), 0xa282ead8);
  assert.is(maskCrc(0x8000), 0xa282ead9);
  assert.is(maskCrc(0xffffffff), 0xa282ead7);
});

test('numbers are read in their shortest form only', () => {
  const read = (...bytes: number[]): number => new FormatReader(Buffer.from(bytes)).varint();
  assert.is(read(0), 0);
  assert.is(read(0x7f), 127);
  assert.is(read(0xac, 0x02), 300);
  assert.is(read(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f), Number.MAX_SAFE_INTEGER);
  const refused = [[], [0x80], [0x80, 0], [0x85, 0x80, 0], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f]];
  for (const bytes of [...refused, Array.from({ length: 300 }, () => 0x80)]) {
    assert.throws(() => read(...bytes), isFormatError, String(bytes));
  }
});

test('Snappy literals and overlapping copies decompress', () => {
  const text = (...parts: (number | string)[]): string =>
    decompressSnappy(
      Buffer.concat(parts.map((part) => Buffer.from(typeof part === 'number' ? [part] : part))),
    ).toString();
  assert.is(text(0), '');
  assert.is(text(3, 2 << 2, 'abc'), 'abc');
  assert.is(text(9, 2 << 2, 'abc', ((6 - 4) << 2) | 1, 3), 'abcabcabc');
  assert.is(text(6, 0, 'a', (4 << 2) | 2, 1, 0), 'aaaaaa');
  assert.is(text(7, 2 << 2, 'abc', (3 << 2) | 3, 2, 0, 0, 0), 'abcbcbc');
  assert.is(text(70, 60 << 2, 69, 'x'.repeat(70)), 'x'.repeat(70));
});

test('malformed Snappy is refused', () => {
  const bad = [
    [],
    [4],
    [1, 0],
    [3, 8, 97, 98],
    [2, 8, 97, 98, 99],
    [5, 0, 97, 1, 0],
    [5, 0, 97, 1, 2],
    [4, 0, 97, 1, 1],
  ];
  for (const bytes of bad) assert.throws(() => decompressSnappy(Buffer.from(bytes)), isFormatError, String(bytes));
  assert.throws(() => decompressSnappy(Buffer.from([0xff, 0xff, 0xff, 0x7f])), isFormatError);
});

test('version edits add and delete tables, and one that moves a table keeps it', () => {
  const version = emptyVersion();
  applyEdit(version, Buffer.from([1, 1, 120, 2, 5, 3, 9, 4, 100, 9, 0, 7, 0, 8, 50, 1, 97, 1, 98]));
  assert.equal([version.comparator, version.logNumber, version.nextFileNumber, version.lastSequence], ['x', 5, 9, 100]);
  applyEdit(version, Buffer.from([7, 1, 8, 50, 1, 97, 1, 98, 6, 0, 8, 5, 1, 1, 97]));
  assert.equal([...version.tables], [['1:8', { number: 8, size: 50 }]]);
  for (const bad of [[8], [6, 7, 1], [2], [7, 0, 8, 50, 1, 97, 2, 98]]) {
    assert.throws(() => applyEdit(version, Buffer.from(bad)), isFormatError, String(bad));
  }
});

test.run();
