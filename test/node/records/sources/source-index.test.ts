import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  countOf,
  MAX_ROW_RUNS,
  seqAt,
  sourceIndex,
  SourceRows,
  type SourceRow,
} from '../../../../node/records/sources/source-index.ts';
import { equalBytes } from '../../../../protocol/bytes.ts';
import { fc } from '../../../fixtures/properties.ts';

const LEAF = Uint8Array.from({ length: 32 }, (_, i) => i);

interface ReadRow {
  readonly first: number;
  readonly row: SourceRow;
}

/** The rows that a source's records come to, read back. */
function rowsOf(seqs: readonly number[], firstPlace = 1): ReadRow[] {
  const rows = new SourceRows('acme', 'key');
  seqs.forEach((seq, i) =>
    rows.add(
      firstPlace + i,
      seq,
      LEAF.map((byte) => byte ^ seq),
    ),
  );
  return rows.operations().map((operation) => {
    if (operation.type !== 'put') throw new Error('a row is written');
    return { first: Number(operation.key.split('/').at(-1)), row: sourceIndex.decode(operation.value) };
  });
}

function bytesOf(text: string): Uint8Array {
  return Buffer.concat([LEAF, Buffer.from(text, 'latin1')]);
}

/** Places of records in a group: gaps between them, most of them none. */
const seqs = fc
  .array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5_000 })), { minLength: 1, maxLength: 400 })
  .map((gaps) => gaps.map((_, i) => gaps.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0)));

test('the rows of a source name its records, each in its place, and the leaf of the last', () => {
  fc.assert(
    fc.property(seqs, fc.integer({ min: 1, max: 1_000_000 }), (asked, firstPlace) => {
      const rows = rowsOf(asked, firstPlace);
      const named = rows.flatMap(({ row }) => Array.from({ length: countOf(row) }, (_, i) => seqAt(row, i)));
      assert.equal(named, asked);
      let place = firstPlace;
      for (const { first, row } of rows) {
        assert.is(first, place);
        place += countOf(row);
        assert.is(seqAt(row, countOf(row)), undefined);
        assert.ok(
          equalBytes(
            row.leaf,
            LEAF.map((byte) => byte ^ (asked[place - firstPlace - 1] ?? 0)),
          ),
        );
        assert.ok(row.runs.length <= MAX_ROW_RUNS);
      }
    }),
  );
});

test('however many records of one source a group has, they are one row, and of two a few small ones', () => {
  const alone = rowsOf(Array.from({ length: 5_000 }, (_, i) => 1_000_000 + i));
  assert.equal(
    alone.map(({ row }) => row.runs),
    [[{ first: 1_000_000, count: 5_000 }]],
  );
  const other = rowsOf(Array.from({ length: 5_000 }, (_, i) => 1_000_000 + 2 * i));
  assert.is(other.length, Math.ceil(5_000 / MAX_ROW_RUNS));
  assert.ok(other.every(({ row }) => sourceIndex.put(['a', 'b', 1], row).type === 'put'));
});

test('records that do not follow one another in their source stand in rows of their own', () => {
  const rows = new SourceRows('acme', 'key');
  rows.add(1, 10, LEAF);
  rows.add(3, 11, LEAF);
  assert.equal(
    rows.operations().map(({ key }) => Number(key.split('/').at(-1))),
    [1, 3],
  );
});

test('a row reads only as it is written', () => {
  assert.equal(sourceIndex.decode(bytesOf('7+2 2 9+1')).runs, [
    { first: 7, count: 3 },
    { first: 11, count: 1 },
    { first: 20, count: 2 },
  ]);
  const wrong = [
    '',
    ' ',
    '0',
    '07',
    '7+0',
    '7+01',
    '7 1',
    '7 0',
    '7 ',
    ' 7',
    '7  9',
    '7+',
    '+7',
    '-7',
    '7.5',
    '7+2+2',
    '7\n',
  ];
  const far = ['9007199254740992', '9007199254740991+1', `7${' 2'.repeat(MAX_ROW_RUNS)}`];
  for (const text of [...wrong, ...far]) assert.throws(() => sourceIndex.decode(bytesOf(text)), TypeError, text);
  for (const length of [0, 31, 32]) assert.throws(() => sourceIndex.decode(LEAF.subarray(0, length)), TypeError);
  assert.equal(sourceIndex.decode(bytesOf('9007199254740991')).runs, [{ first: Number.MAX_SAFE_INTEGER, count: 1 }]);
});

test.run();
