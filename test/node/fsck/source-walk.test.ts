import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Check } from '../../../node/fsck/check.ts';
import { FactsMaker } from '../../../node/fsck/record-facts.ts';
import { Report } from '../../../node/fsck/report.ts';
import { SourceWalk } from '../../../node/fsck/source-walk.ts';
import type { BuiltRecord } from '../../../node/intake/groups.ts';
import { sourceKey } from '../../../node/records/sources/sources.ts';
import { sourceIndex } from '../../../node/records/sources/source-index.ts';
import type { Operation } from '../../../node/store/operation.ts';
import { draftOf, IntakeFixture, NODE, temporaryDirectory } from '../intake/intake-fixture.ts';

const SOURCES = ['loans', 'fraud', 'triage', 'credit', 'claims'];
/** Records of each group: none divides the number that the walk is given at a time. */
const GROUPS = [23, 4, 17, 1, 9, 31, 2];

const directory = await temporaryDirectory();
const fixture = await IntakeFixture.open(directory.path);
const { store } = fixture;
test.after(async () => {
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});
const records: BuiltRecord[] = [];
for (const size of GROUPS) {
  const drafts = Array.from({ length: size }, (_, i) => draftOf(SOURCES[(i * i + size) % SOURCES.length] ?? '', { i }));
  records.push(...(await fixture.intake.submitAll(drafts)));
}
const rows = await Array.fromAsync(sourceIndex.under(store, ['acme', sourceKey('triage')]));

/** What the walk finds after a change of the index, which is undone; `maxSources`: how many it remembers. */
async function findings(changes: readonly Operation[], maxSources: number): Promise<string[]> {
  const before: Operation[] = [];
  for (const { key } of changes) {
    const value = await store.get(key);
    before.push(value === undefined ? { type: 'del', key } : { type: 'put', key, value });
  }
  await store.write(changes);
  const report = new Report();
  const check: Check = {
    store,
    report,
    signal: undefined,
    keys: null,
    own: NODE,
    cipher: null,
    agentKeys: null,
    held: null,
  };
  const walk = new SourceWalk(check, NODE, maxSources);
  const facts = new FactsMaker();
  for (let at = 0; at < records.length; at += 6) {
    const some = records.slice(at, at + 6);
    await walk.take(some.map(({ record, leaf }) => ({ record: { ...facts.factsOf(record), row: record.seq }, leaf })));
  }
  await walk.finish();
  await store.write(before);
  return report.findings.map(({ table, detail }) => `${table}: ${detail}`);
}

for (const maxSources of [1, 2, 100]) {
  test(`an index that is right is found right by a walk that remembers ${maxSources} sources`, async () => {
    assert.equal(await findings([], maxSources), []);
  });

  test(`each row that is lost or changed is found by a walk that remembers ${maxSources} sources`, async () => {
    assert.ok(rows.length > 3);
    for (const [[first = ''], row] of rows) {
      const place = ['acme', sourceKey('triage'), Number(first)] as const;
      assert.match((await findings([sourceIndex.del(...place)], maxSources)).join(), /source-index: is missing/);
      const leaf = row.leaf.map((byte) => byte ^ 1);
      assert.match((await findings([sourceIndex.put(place, { ...row, leaf })], maxSources)).join(), /has another leaf/);
      const runs = row.runs.map((run, i) => (i === row.runs.length - 1 ? { ...run, count: run.count + 1 } : run));
      assert.ok((await findings([sourceIndex.put(place, { ...row, runs })], maxSources)).length > 0);
      const moved = row.runs.map((run) => ({ ...run, first: run.first + 1 }));
      assert.match(
        (await findings([sourceIndex.put(place, { ...row, runs: moved })], maxSources)).join(),
        /holds \d+, not/,
      );
    }
  });
}

test('a row past the end of its source, and one of no source, belong to no record', async () => {
  const [, row] = rows[0] ?? [];
  if (row === undefined) throw new Error('no row');
  for (const place of [
    [sourceKey('triage'), 9_999],
    [sourceKey('nothing'), 1],
    ['x', 1],
  ] as const) {
    assert.equal(await findings([sourceIndex.put(['acme', ...place], row)], 100), [
      'source-index: belongs to no record',
    ]);
  }
});

test.run();
