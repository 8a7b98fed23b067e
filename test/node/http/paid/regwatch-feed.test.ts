import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Check } from 'typebox/value';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { itemTable, revisionTable, sourceTable } from '../../../../node/services/regulatory-feed/regwatch-tables.ts';
import { RegwatchAnswerShape } from '../../../../protocol/api/regwatch-feed.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { priceOf } from '../../../../protocol/payments/prices.ts';
import { document, rss, terms } from '../../services/regulatory-feed/documents.ts';
import { FEED_PATH, itemsOf, numbered, numberedItems, RegwatchFixture, titlesOf } from './regwatch-fixture.ts';
import { testWhere } from '../../../fixtures/test-where.ts';

const PRICE = BigInt(priceOf('regwatch-feed'));
/** Files of the feeds as they are published; where they are not, their test is left out, loudly. */
const SAMPLES = join(import.meta.dirname, '../../../../../shared/data/regwatch');

const fixture = await RegwatchFixture.open();
const { node } = fixture;

test.after(() => fixture[Symbol.asyncDispose]());

test('a document makes one record an item, the same document none; what changed stands in the place of what was', async () => {
  const { regItems, intake, store } = node.context;
  const of = terms({ id: 'changes', jurisdictions: ['SG'] });
  const first = await regItems.ingest(document(numbered(0, 3)), of);
  assert.equal([first.added, first.changed, first.unchanged], [3, 0, 0]);
  const recorded = intake.recorded;
  const again = await regItems.ingest(document(numbered(0, 3)), of);
  assert.equal([again.added, again.changed, again.unchanged, intake.recorded], [0, 0, 3, recorded]);
  const before = (await fixture.items({ jurisdictions: ['SG'] })).find(({ revision }) => revision.key === '1');
  const changed = await regItems.ingest(document(numbered(0, 3).replace('Item 1', 'Item one')), of);
  assert.equal([changed.added, changed.changed, changed.unchanged], [0, 1, 2]);
  const items = await fixture.items({ jurisdictions: ['SG'] });
  assert.equal(titlesOf(items).toSorted(), ['Item 0', 'Item 2', 'Item one']);
  const [newest] = items;
  assert.equal([newest?.revision.changeType, newest?.revision.supersedes], ['changed', [before?.record]]);
  const record = (await readRecord(store, recordId(newest?.record ?? '')))?.record;
  assert.equal(
    [record?.kind, record?.sourceId, record?.links.supersedes, record?.claims.itemId, record?.claims.jurisdiction],
    ['reg_item', 'meridian/regwatch/changes', before?.record, newest?.revision.itemId, ['SG']],
  );
});

test('two ingests of one document at once make no record twice', async () => {
  const of = terms({ id: 'twins', jurisdictions: ['JP'] });
  const text = document(numbered(0, 5));
  const reports = await Promise.all([1, 2, 3].map(() => node.context.regItems.ingest(text, of)));
  assert.is(
    reports.reduce((sum, { added }) => sum + added, 0),
    5,
  );
  assert.is((await fixture.items({ jurisdictions: ['JP'] })).length, 5);
});

test('pages are of one moment: what comes in meanwhile is not on them, what is superseded meanwhile stands', async () => {
  const { regItems, regFeed } = node.context;
  const of = terms({ id: 'pages', jurisdictions: ['CA'] });
  const filter = { jurisdictions: ['CA'] };
  await regItems.ingest(document(numbered(0, 250)), of);
  const expected = titlesOf(await fixture.items(filter));
  assert.is(expected.length, 250);
  const titles: string[] = [];
  let page = await regFeed.page(filter, 70);
  for (let round = 0; ; round++) {
    titles.push(...titlesOf(page.items));
    if (page.next === undefined) break;
    const meanwhile = [
      ...numberedItems(round * 70, round * 70 + 35, 'Other'),
      ...numberedItems(1000 + round, 1001 + round),
    ];
    await regItems.ingest(document(rss(...meanwhile)), of);
    page = await regFeed.page(filter, 70, page.next);
  }
  assert.equal(titles, expected);
  const now = titlesOf(await fixture.items(filter));
  assert.is(new Set(now).size, now.length);
  assert.is(now.filter((title) => title.startsWith('Other')).length, 105);
});

test('the newest come first, those of one moment by their ids', async () => {
  const items = await fixture.items();
  const keys = items.map(({ ingestedAt, revision }) => `${10 ** 14 - Date.parse(ingestedAt)} ${revision.itemId}`);
  assert.equal(keys, keys.toSorted());
});

test('the stock client buys a page for exactly its price; the page and each item are on record', async () => {
  const { body, status, gain } = await fixture.buy('?jurisdiction=CA,SG&limit=5');
  assert.equal([status, gain], [200, PRICE]);
  assert.ok(Check(RegwatchAnswerShape, { ...body }));
  const items = itemsOf(body);
  assert.equal([items.length, body.count], [5, 5]);
  assert.is(body.feedHash, hashText(nativeSuite, canonicalize(items)));
  const { attestationId } = Object(body.attestation);
  const page = (await readRecord(node.context.store, recordId(attestationId)))?.record;
  assert.equal([page?.kind, page?.claims.rawHash, page?.claims.itemId], ['reg_item', body.feedHash, undefined]);
  for (const item of items) {
    const record = (await readRecord(node.context.store, recordId(String(item.attestationId))))?.record;
    assert.equal([record?.claims.itemId, record?.submittedAt], [item.itemId, item.ingestedAt]);
  }
  const next = await fixture.buy(`?jurisdiction=SG,CA&limit=5&cursor=${encodeURIComponent(String(body.nextCursor))}`);
  assert.equal([next.status, next.gain], [200, PRICE]);
  const ids = [...items, ...itemsOf(next.body)].map(({ itemId }) => itemId);
  assert.is(new Set(ids).size, 10);
});

test('what is asked for wrongly is refused, and costs nothing', async () => {
  const { body } = await fixture.buy('?jurisdiction=CA&limit=1');
  const cursor = encodeURIComponent(String(body.nextCursor));
  const wrong = [
    '?limit=0',
    '?limit=101',
    '?status=unknown',
    '?framework=NONE',
    '?jurisdiction=eu',
    '?since=yesterday',
    '?since=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z',
    '?surprise=1',
    '?limit=1&limit=2',
    '?cursor=nonsense',
    `?jurisdiction=SG&cursor=${cursor}`,
  ];
  const recorded = node.context.intake.recorded;
  for (const query of wrong) {
    const { status, gain } = await fixture.buy(query);
    assert.equal([query, status, gain], [query, 400, 0n]);
  }
  assert.is(node.context.intake.recorded, recorded);
});

test('without a payment it names its price', async () => {
  const { status, body } = await node.get(FEED_PATH, { key: null });
  assert.is(status, 402);
  assert.ok(body.accepts);
});

test('a period is of when items came in: its start is included, its end is not', async () => {
  const items = await fixture.items();
  const newest = Date.parse(items[0]?.ingestedAt ?? '');
  const at = items.filter(({ ingestedAt }) => Date.parse(ingestedAt) === newest).length;
  assert.is((await fixture.items({ since: newest })).length, at);
  assert.is((await fixture.items({ until: newest })).length, items.length - at);
  assert.equal(await fixture.items({ since: newest + 1 }), []);
  assert.equal(await fixture.items({ frameworks: ['FINRA'] }), []);
});

test('the operator adds an item, corrects it, and the correction stands whatever the source says later', async () => {
  const item = {
    id: 'own-1',
    sample: true,
    title: 'An act',
    jurisdictions: ['US', 'US-CO'],
    frameworks: ['US_STATE'],
    authority: 'Legislature',
    instrumentType: 'law',
    status: 'adopted',
  };
  const file = await fixture.file('item.json', item);
  const added = await fixture.command('add', file);
  assert.equal([added.exit, /added/.test(added.out)], [0, true]);
  assert.match((await fixture.command('add', file)).out, /unchanged/);
  const [own] = await fixture.items({ frameworks: ['US_STATE'] });
  const id = own?.revision.itemId ?? '';
  const correction = await fixture.file('correction.json', {
    status: 'postponed',
    effectiveAt: '2027-01-01T00:00:00.000Z',
  });
  assert.match((await fixture.command('correct', id, correction)).out, /corrected/);
  assert.match((await fixture.command('correct', id, correction)).out, /unchanged/);
  const { body } = await fixture.buy('?framework=US_STATE&status=postponed');
  const [told] = itemsOf(body);
  assert.equal(
    [told?.itemId, told?.changeType, told?.sample, told?.effectiveAt, told?.supersedes],
    [id, 'corrected', true, '2027-01-01T00:00:00.000Z', [own?.record]],
  );
  assert.equal(await fixture.items({ frameworks: ['US_STATE'], status: 'adopted' }), []);

  const of = terms({ id: 'changes', jurisdictions: ['SG'] });
  const foreign = (await fixture.items({ jurisdictions: ['SG'] })).find(({ revision }) => revision.key === '2');
  const second = await fixture.file('second.json', { status: 'stayed' });
  await fixture.command('correct', foreign?.revision.itemId ?? '', second);
  const same = await node.context.regItems.ingest(document(numbered(2, 3)), of);
  assert.equal([same.unchanged, same.changed], [1, 0]);
  await node.context.regItems.ingest(document(numbered(2, 3, 'New')), of);
  const now = (await fixture.items({ jurisdictions: ['SG'] })).find(({ revision }) => revision.key === '2');
  assert.equal([now?.revision.content.title, now?.revision.content.status], ['New 2', 'stayed']);
});

test('the operator ingests a file under terms of his own; what is no feed, no item or no source is told', async () => {
  const file = await fixture.file('feed.xml', numbered(0, 2));
  const flags = ['--source', 'by-hand', '--authority', 'An Agency', '--jurisdictions', 'GB'];
  assert.match((await fixture.command('ingest', file, ...flags)).out, /2 added/);
  assert.match((await fixture.command('ingest', file, ...flags)).out, /2 as before/);
  assert.is((await fixture.items({ jurisdictions: ['GB'] })).length, 2);
  assert.match((await fixture.command('status')).out, /no sources are configured[\s\S]*rgi_/);
  const bad = await fixture.file('bad.xml', '<!DOCTYPE rss><rss></rss>');
  const refusals = [
    ['ingest', bad, ...flags],
    ['ingest', join(node.config.home, 'nothing.xml'), ...flags],
    ['ingest', file, '--source', 'nobody'],
    ['correct', `rgi_${'0'.repeat(32)}`, await fixture.file('third.json', { status: 'stayed' })],
    ['correct', `rgi_${'0'.repeat(32)}`, await fixture.file('fourth.json', { status: 'wrong' })],
    ['add', await fixture.file('fifth.json', { title: 'x' })],
  ];
  for (const args of refusals) {
    const { exit, err } = await fixture.command(...args);
    assert.equal([args[0], exit], [args[0], 1]);
    assert.match(err, /regwatch: /);
  }
  assert.is((await fixture.command('withdraw')).exit, 2);
});

testWhere(existsSync(SAMPLES), `${SAMPLES} is not here`)(
  'the feeds as they are published, ingested twice, make no item twice',
  async () => {
    const files = (await readdir(SAMPLES)).filter((name) => !/^(README|manifest)/.test(name));
    const round = async (): Promise<number[]> => {
      const ingest = async (name: string) => {
        const id = name.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase();
        const of = terms({ id, format: name.endsWith('.json') ? 'federal-register' : 'feed' });
        return node.context.regItems.ingest({ bytes: await readFile(join(SAMPLES, name)), contentType: null }, of);
      };
      const reports = await Promise.all(files.map(ingest));
      const sum = (count: 'added' | 'changed' | 'unchanged') =>
        reports.reduce((total, report) => total + report[count], 0);
      return [sum('added'), sum('changed'), sum('unchanged')];
    };
    assert.equal(await round(), [100, 0, 0]);
    assert.equal(await round(), [0, 0, 100]);
  },
);

test('fsck finds the feed whole, and a revision that is other, missing or of nothing', async () => {
  const findings = async () => {
    await node.stop();
    const { report } = await fsck(node.config.home);
    await node.start();
    const ofFeed = report.findings.filter(({ table }) => table.startsWith('reg-'));
    return ofFeed.map(({ table, detail }) => `${table}: ${detail}`).toSorted();
  };
  const [one, two, three] = await fixture.items({ jurisdictions: ['SG'] });
  if (one === undefined || two === undefined || three === undefined) throw new Error('too few items');
  const { seq = 0 } = (await readRecord(node.context.store, three.record))?.record ?? {};
  const at = one.ingestedAt;
  const state = {
    url: 'https://x.example/',
    etag: null,
    lastModified: null,
    documentHash: null,
    error: null,
    failures: 0,
  };
  await node.context.store.write([
    revisionTable.put([one.record], { ...one.revision, sample: !one.revision.sample }),
    revisionTable.del(two.record),
    itemTable.del(three.revision.itemId, seq),
    sourceTable.put(['a source'], { ...state, checkedAt: at, succeededAt: null, nextAt: at }),
  ]);
  assert.equal(await findings(), [
    'reg-item: is missing',
    'reg-revision: is missing',
    'reg-revision: is not what its record committed to',
    'reg-source: is of no source',
  ]);
  await node.context.store.write([
    revisionTable.put([one.record], one.revision),
    revisionTable.put([two.record], two.revision),
    itemTable.put([three.revision.itemId, seq], three.record),
    sourceTable.del('a source'),
  ]);
  assert.equal(await findings(), []);
});

test.run();
