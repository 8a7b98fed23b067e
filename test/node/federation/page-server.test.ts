import { crc32 } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkPage, type PageGroup } from '../../../node/federation/page-check.ts';
import { decodeItem, encodeItem, encodeRow, openedBytes, type PageItem } from '../../../node/federation/page-forms.ts';
import { joinTexts } from '../../../node/records/record-lines.ts';
import { BODY_ROW_RECORDS, bodyTable, storedBodyTable } from '../../../node/records/record-tables.ts';
import { compressedTextCodec, MAX_COMPRESSED_BYTES, openedLengthOf } from '../../../node/store/compressed-text.ts';
import type { WholeTexts } from '../../../protocol/chain/record.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { NEWEST } from './fake-network.ts';
import { NINE, Rebuilding } from './rebuilding.ts';

/** More than a row of records, and rows of which the last is too short to be compressed. */
const RECORDS = 130;

async function pagesOfVersions(): Promise<Record<'texts' | 'rows' | 'stored', readonly Uint8Array[]>> {
  await using rebuilding = await Rebuilding.start();
  const drafts = Array.from({ length: RECORDS }, () => ({}));
  await rebuilding.seal(drafts, { groupSize: RECORDS });
  const { origin, assembler } = rebuilding;
  const request = { want: 'chain', node: origin.node, ...assembler.wanted } as const;
  const page = (version: number) => Array.fromAsync(origin.pages.serve(request, version));
  const stored = storedBodyTable.under(origin.store, [origin.node]);
  return {
    texts: await page(1),
    rows: await page(2),
    stored: await Array.fromAsync(stored, ([, row]) => row),
  };
}

function recordsOf(items: readonly PageItem[]): WholeTexts[] {
  return items.flatMap((item) => (item.kind === 'records' ? item.records : []));
}

function bodiesOf([group]: readonly PageGroup[]): string[] {
  return (group?.rows() ?? []).flatMap((row) => {
    return row.type === 'put' && row.key.startsWith(`${bodyTable.name}/`) ? [hex(row.value)] : [];
  });
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** A row whose texts are compressed as badly as a frame may be: not at all (RFC 8878 §3.1.1.2, raw blocks). */
function uncompressed(records: readonly WholeTexts[]): Uint8Array {
  const text = Buffer.from(joinTexts(records));
  const row = Buffer.alloc(21 + text.length, 0xff);
  row.writeUInt32BE(text.length, 5);
  row.set([0x28, 0xb5, 0x2f, 0xfd, 0xa0], 9);
  row.writeUInt32LE(text.length, 14);
  row.writeUIntLE((text.length << 3) | 1, 18, 3);
  row.set(text, 21);
  row.writeUInt32BE(crc32(row.subarray(5)), 1);
  return row;
}

test('rows come as they are stored, short ones as their records; by the first version all are records', async () => {
  const { texts, rows, stored } = await pagesOfVersions();
  const [byRecords, byRows] = [texts, rows].map((frames) => frames.map(decodeItem));
  assert.is(recordsOf(byRows ?? []).length, RECORDS);
  assert.equal(recordsOf(byRows ?? []), recordsOf(byRecords ?? []));
  const sent = byRows?.flatMap((item) => (item.kind === 'records' ? [item.row && hex(item.row)] : []));
  assert.equal(
    sent,
    stored.map((row) => (openedLengthOf(row) === undefined ? undefined : hex(row))),
  );
  assert.is(sent?.filter((row) => row === undefined).length, 1);
  assert.ok(byRecords?.every((item) => item.kind !== 'records' || item.row === undefined));
  const total = (frames: readonly Uint8Array[]) => frames.reduce((sum, frame) => sum + openedBytes(frame), 0);
  assert.ok(Math.abs(total(rows) - total(texts)) < 10, 'a page ends where it did');
});

test('a page begins with the group that the record asked for is in', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const { node, pages } = rebuilding.origin;
  for (const [seq, first] of [
    [4, 4],
    [5, 4],
    [9, 7],
  ] as const) {
    const items = (await Array.fromAsync(pages.serve({ want: 'chain', node, batch: 1, seq }, NEWEST))).map(decodeItem);
    const groups = items.flatMap((item) => (item.kind === 'group' ? groupStatement.parse(item.signed.statement) : []));
    assert.is(groups[0]?.first, first);
    assert.is(recordsOf(items).length, 10 - first);
  }
});

test('a row that came is stored as it came', async () => {
  const { rows, stored } = await pagesOfVersions();
  assert.equal(bodiesOf([...checkPage(rows)]), stored.map(hex));
});

test('a row of more records than a row has is refused, whatever they are', async () => {
  const { rows } = await pagesOfVersions();
  const records = recordsOf(rows.map(decodeItem)).slice(0, BODY_ROW_RECORDS + 1);
  const rowOf = (lines: string) => encodeRow(compressedTextCodec.encode(lines));
  assert.equal(decodeItem(rowOf(joinTexts(records.slice(1)))).kind, 'records');
  for (const lines of [joinTexts(records), '\n'.repeat(MAX_COMPRESSED_BYTES)]) {
    assert.throws(() => decodeItem(rowOf(lines)), /a row of too many records/);
  }
});

test('a row that its sender left large, and one that is part of another, are compressed anew', async () => {
  const { rows, stored } = await pagesOfVersions();
  const large = rows.map(decodeItem).map((item): PageItem => {
    if (item.kind !== 'records' || item.row === undefined) return item;
    const { records } = item;
    return { kind: 'records', records, row: uncompressed(records) };
  });
  assert.equal(bodiesOf([...checkPage(large.map(encodeItem))]), stored.map(hex));
  const parts = rows.map(decodeItem).flatMap((item): PageItem[] => {
    if (item.kind !== 'records' || item.row === undefined) return [item];
    const [first, rest] = [item.records.slice(0, 30), item.records.slice(30)];
    return [first, rest].map((records) => ({
      kind: 'records',
      records,
      row: compressedTextCodec.encode(joinTexts(records)),
    }));
  });
  assert.equal(bodiesOf([...checkPage(parts.map(encodeItem))]), stored.map(hex));
});

test.run();
