import {
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { appendFileSync, cpSync, renameSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkLevelDbFiles, type FileFinding } from '../../../../node/store/leveldb/check-files.ts';
import { crc32c, maskCrc } from '../../../../node/store/leveldb/crc32c.ts';
import { FormatReader } from '../../../../node/store/leveldb/format-reader.ts';
import { scanTable } from '../../../../node/store/leveldb/table-file.ts';
import { fc } from '../../../fixtures/properties.ts';

const UNCHECKED = ['LOG', 'LOG.old', 'LOCK'];
const scratch = mkdtempSync(join(tmpdir(), 'meridian-leveldb-'));
const big = join(scratch, 'big');
const small = join(scratch, 'small');

test.before(async () => {
  await fill(big, 16_000, 64 * 1024, [1, 300, 700]);
  await fill(big, 1500, 4 << 20, [900, 200, 300_000, 100]);
  await fill(small, 12, 4 << 20, [20]);
  await fill(small, 3, 4 << 20, [40]);
});

test.after(() => rmSync(scratch, { recursive: true, force: true }));

/**
 * Puts rows, random or repetitive in turns, deletes some, and closes. Opening turns the last run's log into a table.
 */
async function fill(directory: string, rows: number, writeBufferSize: number, sizes: number[]): Promise<void> {
  const level = new Level<string, Uint8Array>(directory, { valueEncoding: 'view', writeBufferSize });
  await level.open();
  for (let row = 0; row < rows; row += 50) {
    const indexes = Array.from({ length: Math.min(50, rows - row) }, (_, index) => row + index);
    await level.batch(indexes.map((index) => ({ type: 'put', key: keyOf(index, rows), value: valueOf(index, sizes) })));
    if (row % 500 === 450) await level.del(keyOf(row - 100, rows));
  }
  await level.close();
}

function keyOf(index: number, rows: number): string {
  return `record/${String((index * 7919) % rows).padStart(12, '0')}`;
}

function valueOf(index: number, sizes: number[]): Uint8Array {
  const size = index % 400 === 399 ? (sizes.at(-2) ?? 1) : (sizes[index % 2] ?? sizes[0] ?? 1);
  const value = new Uint8Array(size);
  if (index % 3 > 0) for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(value.subarray(at, at + 65_536));
  return value;
}

async function check(directory: string): Promise<FileFinding[]> {
  return Array.fromAsync(checkLevelDbFiles(directory));
}

async function problems(directory: string): Promise<FileFinding[]> {
  return (await check(directory)).filter(({ severity }) => severity === 'problem');
}

/** Bytes of live files, as one range: LevelDB may leave obsolete tables behind when it is closed. */
async function liveBytes(
  directory: string,
): Promise<{ total: number; locate: (position: number) => [string, number] }> {
  const obsolete = (await check(directory)).map(({ file }) => file);
  const files = readdirSync(directory).filter((name) => !UNCHECKED.includes(name) && !obsolete.includes(name));
  const paths = files.map((name) => join(directory, name));
  const sizes = paths.map((path) => statSync(path).size);
  const locate = (position: number): [string, number] => {
    let offset = position;
    for (const [index, path] of paths.entries()) {
      const size = sizes[index] ?? 0;
      if (offset < size) return [path, offset];
      offset -= size;
    }
    throw new RangeError('past the last file');
  };
  return { total: sizes.reduce((sum, size) => sum + size, 0), locate };
}

async function withFlip(path: string, offset: number, bit: number, then: () => Promise<void>): Promise<void> {
  const file = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, offset);
  const flipped = Buffer.of(byte.readUInt8(0) ^ (1 << bit));
  writeSync(file, flipped, 0, 1, offset);
  try {
    await then();
  } finally {
    writeSync(file, byte, 0, 1, offset);
    closeSync(file);
  }
}

/** A copy of the small database to damage. */
function copyOf(directory: string): string {
  const copy = mkdtempSync(join(scratch, 'copy-'));
  cpSync(directory, copy, { recursive: true });
  return copy;
}

function fragment(type: number, payload: string): Buffer {
  const header = Buffer.alloc(6);
  const body = Buffer.concat([Buffer.of(type), Buffer.from(payload)]);
  header.writeUInt32LE(maskCrc(crc32c(body)), 0);
  header.writeUInt16LE(payload.length, 4);
  return Buffer.concat([header, body]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function only(directory: string, pattern: RegExp): string {
  const found = readdirSync(directory).filter((name) => pattern.test(name));
  assert.is(found.length, 1);
  return found[0] ?? '';
}

test('databases as LevelDB leaves them are clean, several tables and large rows included', async () => {
  assert.equal(
    (await check(big)).filter(({ code }) => code !== 'unreferenced'),
    [],
  );
  assert.equal(await check(small), []);
  assert.ok(readdirSync(big).filter((name) => name.endsWith('.ldb')).length > 1);
  assert.ok(statSync(join(big, only(big, /\.log$/))).size > 32_768);
});

test('an empty and a never written database are clean', async () => {
  const directory = join(scratch, 'empty');
  await fill(directory, 0, 4 << 20, []);
  assert.equal(await check(directory), []);
  await fill(directory, 0, 4 << 20, []);
  assert.equal(await check(directory), []);
});

test('a flipped bit anywhere in a live file of a large database is found', async () => {
  const { total, locate } = await liveBytes(big);
  const position = fc.nat(total - 1);
  const property = fc.asyncProperty(position, fc.nat(7), async (at, bit) => {
    const [path, offset] = locate(at);
    await withFlip(path, offset, bit, async () => {
      const found = await problems(big);
      assert.ok(found.length > 0, `bit ${bit} of byte ${offset} of ${path} escaped`);
    });
  });
  await fc.assert(property, { numRuns: 300, endOnFailure: true });
});

test('every byte of a small database is covered, and every bit of CURRENT, footers and the first records', async () => {
  const { total, locate } = await liveBytes(small);
  const escaped: string[] = [];
  for (let position = 0; position < total; position++) {
    const [path, offset] = locate(position);
    const structural = offset < 24 || (path.endsWith('.ldb') && offset >= statSync(path).size - 48);
    for (const bit of structural ? [0, 1, 2, 3, 4, 5, 6, 7] : [position % 8]) {
      await withFlip(path, offset, bit, async () => {
        if ((await problems(small)).length === 0) escaped.push(`${path}:${offset}:${bit}`);
      });
    }
  }
  assert.equal(escaped, []);
});

test('a last log cut anywhere is torn or shorter, never damaged, and LevelDB opens it', async () => {
  const copy = copyOf(small);
  const log = join(copy, only(copy, /\.log$/));
  const { size } = statSync(log);
  for (let cut = size - 1; cut > 0; cut--) {
    truncateSync(log, cut);
    const found = await check(copy);
    assert.equal(
      found.map(({ code, severity }) => `${severity} ${code}`),
      ['warning torn-tail'],
      `cut at ${cut}`,
    );
  }
  await fill(copy, 0, 4 << 20, []);
  assert.equal(await check(copy), []);
});

test('a tail of zeros, as a file system may leave, is torn', async () => {
  const copy = copyOf(small);
  appendFileSync(join(copy, only(copy, /\.log$/)), Buffer.alloc(5000));
  assert.equal(
    (await check(copy)).map(({ code }) => code),
    ['torn-tail'],
  );
});

test('a torn log with records in a later log is damage', async () => {
  const copy = copyOf(small);
  const log = join(copy, only(copy, /\.log$/));
  const whole = readFileSync(log);
  truncateSync(log, whole.length - 1);
  const later = join(copy, '000099.log');
  writeFileSync(later, '');
  assert.equal(
    (await check(copy)).map(({ severity }) => severity),
    ['warning'],
  );
  writeFileSync(later, whole);
  assert.equal(
    (await check(copy)).map(({ severity }) => severity),
    ['problem'],
  );
});

test('records out of order, of unknown type or with padding are found although their checksums hold', async () => {
  const codesWith = async (...parts: Buffer[]): Promise<string[]> => {
    const copy = copyOf(small);
    writeFileSync(join(copy, only(copy, /\.log$/)), Buffer.concat(parts));
    return (await check(copy)).map(({ code }) => code);
  };
  assert.equal(await codesWith(fragment(1, 'a'), fragment(2, 'b'), fragment(3, 'c'), fragment(4, 'd')), []);
  assert.equal(await codesWith(fragment(2, 'a'), fragment(1, 'b')), ['record-order']);
  assert.equal(await codesWith(fragment(1, 'a'), fragment(4, 'b')), ['record-order']);
  assert.equal(await codesWith(fragment(5, 'a')), ['record-type']);
  assert.equal(await codesWith(fragment(2, 'a')), ['torn-tail']);
  const nearlyBlock = fragment(1, 'a'.repeat(32_768 - 7 - 3));
  assert.equal(await codesWith(nearlyBlock, Buffer.alloc(3), fragment(1, 'b')), []);
  assert.equal(await codesWith(nearlyBlock, Buffer.of(0, 0, 1), fragment(1, 'b')), ['record-padding']);
});

test('bytes of a table that belong to no block are found', async () => {
  const path = join(small, only(small, /\.ldb$/));
  const whole = readFileSync(path);
  const end = whole.length - 48;
  const footer = new FormatReader(whole.subarray(end));
  const [metaindex, index] = [footer.handle(), footer.handle()];
  const extra = Buffer.from('extra');
  const moved = Buffer.alloc(48);
  whole.copy(moved, 40, end + 40);
  const handles = [metaindex.offset, metaindex.size, index.offset + extra.length, index.size].flatMap(varint);
  Buffer.from(handles).copy(moved);
  const variants = [
    Buffer.concat([whole.subarray(0, end), extra, whole.subarray(end)]),
    Buffer.concat([whole.subarray(0, index.offset), extra, whole.subarray(index.offset, end), moved]),
  ];
  for (const bytes of [whole, ...variants]) {
    const altered = join(scratch, 'altered.ldb');
    writeFileSync(altered, bytes);
    await using file = await open(altered);
    const found = await Array.fromAsync(scanTable({ name: 'altered.ldb', file, size: bytes.length }));
    const expected = bytes === whole ? [] : ['table-layout'];
    assert.equal(
      found.map(({ code }) => code),
      expected,
    );
  }
});

test('missing, resized and swapped files are found, and strangers are only noted', async () => {
  const codes = async (damage: (copy: string, table: string) => void): Promise<string[]> => {
    const copy = copyOf(small);
    damage(copy, join(copy, only(copy, /\.ldb$/)));
    return (await check(copy)).map(({ code, severity }) => `${severity} ${code}`);
  };
  assert.equal(await codes((_, table) => unlinkSync(table)), ['problem missing-file']);
  assert.equal(await codes((_, table) => appendFileSync(table, 'x')), ['problem table-size']);
  assert.equal(await codes((_, table) => truncateSync(table, 100)), ['problem table-size']);
  assert.equal(await codes((_, table) => renameSync(table, table.replace('.ldb', '.sst'))), []);
  assert.equal(await codes((copy) => unlinkSync(join(copy, only(copy, /\.log$/)))), ['problem missing-file']);
  assert.equal(await codes((copy) => unlinkSync(join(copy, 'CURRENT'))), ['problem missing-file']);
  assert.equal(
    await codes((copy) => unlinkSync(join(copy, only(copy, /^MANIFEST/)))).then((all) => all[0]),
    'problem missing-file',
  );
  assert.equal(await codes((copy) => writeFileSync(join(copy, '000001.ldb'), 'old')), ['note unreferenced']);
  assert.equal(await codes((copy) => writeFileSync(join(copy, 'CURRENT'), 'MANIFEST-000001')), [
    'problem current-malformed',
  ]);
});

test('an aborted check stops with the reason', async () => {
  const reason = new Error('enough');
  const outcome = await Array.fromAsync(checkLevelDbFiles(big, AbortSignal.abort(reason))).catch(
    (error: unknown) => error,
  );
  assert.is(outcome, reason);
});

test.run();
