import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CoveringRows } from '../../../node/store/covering-rows.ts';
import type { Reads } from '../../../node/store/store.ts';
import { numberCodec, Table } from '../../../node/store/table.ts';
import { fc } from '../../fixtures/properties.ts';

/** (owner, first) → how many numbers the row covers. */
const table = new Table('span', numberCodec);

class CountedRows implements Reads {
  readonly rows = new Map<string, Uint8Array>();
  searches = 0;

  put(owner: string, first: number, size: number): void {
    const operation = table.put([owner, first], size);
    if (operation.type === 'put') this.rows.set(operation.key, operation.value);
  }

  remove(owner: string, first: number): void {
    this.rows.delete(table.key(owner, first));
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.rows.get(key);
  }

  async first({ gte = '', lte = '' }: { gte?: string; lte?: string }): Promise<[string, Uint8Array] | undefined> {
    this.searches++;
    const key = [...this.rows.keys()].sort().findLast((each) => each >= gte && each <= lte);
    return key === undefined ? undefined : [key, this.rows.get(key) ?? new Uint8Array()];
  }

  async *range(): AsyncGenerator<[string, Uint8Array]> {}
}

const spans = () =>
  new CoveringRows<readonly [string], number, string>({
    table,
    open: ({ parts: [owner], first, value: size }, at) => (at < first + size ? `${owner}/${first}+${size}` : undefined),
  });

test('a row that was found before is found without a search', async () => {
  const rows = new CountedRows();
  rows.put('eu', 0, 1_000);
  const covering = spans();
  assert.is(await covering.find(rows, ['eu'], 500), 'eu/0+1000');
  assert.is(await covering.find(rows, ['eu'], 501), 'eu/0+1000');
  assert.is(rows.searches, 1);
  assert.is(await covering.find(rows, ['us'], 500), undefined);
});

test('every row that was found before is found without a search, beside others nearby', async () => {
  const rows = new CountedRows();
  const covering = spans();
  for (let first = 0; first < 300; first += 3) rows.put('eu', first, 3);
  const all = Array.from({ length: 100 }, (_, i) => i * 3);
  for (const first of all) await covering.find(rows, ['eu'], first + 1);
  assert.is(rows.searches, all.length);
  for (const first of all.toReversed()) assert.is(await covering.find(rows, ['eu'], first + 2), `eu/${first}+3`);
  assert.is(rows.searches, all.length);
});

test('a damaged row hides no other row that was not read yet, and is told of its own numbers', async () => {
  const rows = new CountedRows();
  rows.put('eu', 0, 5);
  rows.put('eu', 5, 5);
  const covering = spans();
  assert.is(await covering.find(rows, ['eu'], 1), 'eu/0+5');
  rows.rows.set(table.key('eu', 0), Buffer.from('x'));
  assert.is(await covering.find(rows, ['eu'], 7), 'eu/5+5');
  const fault = await covering.find(rows, ['eu'], 1).catch((error: unknown) => error);
  assert.instance(fault, RangeError);
});

test('a row that says itself that it is damaged is not taken for another number’s', async () => {
  const rows = new CountedRows();
  const covering = new CoveringRows<readonly [string], number, string>({
    table,
    isDamaged: (size) => size < 0,
    open: ({ first, value: size }, at) => (size < 0 ? 'damaged' : at < first + size ? String(first) : undefined),
  });
  rows.put('eu', 0, 5);
  rows.put('eu', 5, 5);
  assert.is(await covering.find(rows, ['eu'], 1), '0');
  rows.put('eu', 0, -1);
  assert.is(await covering.find(rows, ['eu'], 7), '5');
  assert.is(await covering.find(rows, ['eu'], 1), 'damaged');
});

test('a row that is gone is tried once, and then no more', async () => {
  const rows = new CountedRows();
  rows.put('eu', 0, 5);
  rows.put('eu', 5, 5);
  const covering = spans();
  for (const at of [1, 7]) await covering.find(rows, ['eu'], at);
  rows.remove('eu', 5);
  rows.put('eu', 0, 10);
  assert.is(rows.searches, 2);
  for (const at of [7, 8, 9]) assert.is(await covering.find(rows, ['eu'], at), 'eu/0+10');
  assert.is(rows.searches, 3);
});

test('a row that was rewritten, or is gone, is found as it is now', async () => {
  const rows = new CountedRows();
  rows.put('eu', 0, 10);
  const covering = spans();
  assert.is(await covering.find(rows, ['eu'], 8), 'eu/0+10');
  rows.put('eu', 0, 5);
  rows.put('eu', 5, 20);
  assert.is(await covering.find(rows, ['eu'], 8), 'eu/5+20');
  rows.remove('eu', 5);
  assert.is(await covering.find(rows, ['eu'], 8), undefined);
  assert.is(await covering.find(rows, ['eu'], 3), 'eu/0+5');
});

test('what is found is what a search finds, whatever was found before', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.nat(600), { maxLength: 40 }), async (lengths, wanted) => {
      const rows = new CountedRows();
      const covering = spans();
      let first = 0;
      const expected: string[] = [];
      for (const size of lengths) {
        rows.put('eu', first, size);
        for (let at = first; at < first + size; at++) expected[at] = `eu/${first}+${size}`;
        first += size;
      }
      for (const at of wanted) assert.is(await covering.find(rows, ['eu'], at), expected[at]);
    }),
  );
});

test.run();
