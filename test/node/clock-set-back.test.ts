import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { timeStepTable } from '../../node/records/time-steps.ts';
import { Store } from '../../node/store/store.ts';
import { PACK_FILES } from '../../protocol/pack/manifest.ts';
import { timestampOf } from '../../protocol/time.ts';
import { fsck } from '../../node/fsck/fsck.ts';
import { requireWholeHome } from '../crash/whole-home.ts';
import { makeEarlier } from '../fixtures/earlier-store.ts';
import { filesOf, judgedPack, packFile, settledPack } from '../fixtures/made-pack.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Batches are sealed soon: a clock that was ahead records again once the ledger has decided the last one. */
const SOON_MS = 200;

/** How far the clock of the node is ahead. In milliseconds. */
let ahead = 0;
/** Number of the last record that was asked for: no two are the same. */
let number = 0;
const network = await TestNetwork.start({
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS },
  overrides: { now: () => Date.now() + ahead },
});
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

interface Listed {
  readonly sourceSeq: number;
  readonly submittedAt: string;
}

interface Period {
  readonly from: number;
  readonly to: number;
}

/** So many records of a source, each of a model of the day; the first one waits until records are taken again. */
async function record(sourceId: string, count: number, modelId = 'credit'): Promise<string> {
  let id = '';
  for (let i = 0; i < count; i++) {
    number++;
    await until('a record to be taken', async () => {
      const { status, body } = await node.post('/v1/attest', { sourceId, data: { number }, modelId });
      id = String(body.attestationId);
      return status === 200;
    });
  }
  return id;
}

async function confirmed(id: string): Promise<void> {
  await until('it to be confirmed', async () => (await node.get(`/v1/status/${id}`)).body.status === 'confirmed');
}

async function listed(query: string, key?: string): Promise<readonly Listed[]> {
  const { text } = await node.get(`/v1/attestations?limit=200&${query}`, key === undefined ? {} : { key });
  const { items }: { items: Listed[] } = JSON.parse(text);
  return items;
}

function termsOf({ from, to }: Period): { readonly from: string; readonly to: string } {
  return { from: timestampOf(from), to: timestampOf(to) };
}

async function countWithin(sourceId: string, { from, to }: Period): Promise<number> {
  const all = await listed(`sourceId=${sourceId}`);
  return all.filter(({ submittedAt: at }) => Date.parse(at) >= from && Date.parse(at) < to).length;
}

test('a pack holds all of its period and is verified, whatever a clock that was minutes ahead has put between', async () => {
  const start = Date.now();
  const at = (minutes: number) => void (ahead = start + minutes * MINUTE_MS - Date.now());
  await record('loans', 3);
  at(4);
  const dated = await record('loans', 3);
  ahead = 0;
  await confirmed(dated);
  for (const minutes of [0.5, 1, 2, 2.5, 3]) {
    at(minutes);
    await record('loans', 2);
  }
  at(3.4);
  const last = await record('other', 1);
  ahead = 0;
  await confirmed(last);
  const [begin, end] = [start - MINUTE_MS, start + 4.9 * MINUTE_MS];
  at(4.9);
  const asked: { packId: string; expected: number }[] = [];
  for (const { minutes, from, to, expected } of [
    // What is dated after the moment of the pack stands before the last record of it.
    { minutes: 3.5, from: begin, to: start + 3.3 * MINUTE_MS, expected: 13 },
    { minutes: 1.5, from: begin, to: start + 1.3 * MINUTE_MS, expected: 7 },
    // What lies before the period stands between records of it.
    { minutes: 4.9, from: start + 1.8 * MINUTE_MS, to: end, expected: 9 },
    { minutes: 4.9, from: begin, to: end, expected: 16 },
  ]) {
    assert.is(await countWithin('loans', { from, to }), expected);
    const question = { sources: ['loans'], ...termsOf({ from, to }), asOf: timestampOf(start + minutes * MINUTE_MS) };
    const { status, body, text } = await node.post('/v1/evidence-packs', question);
    assert.is(status, 200, text);
    asked.push({ packId: String(body.packId), expected });
  }
  ahead = 0;
  for (const { packId, expected } of asked) {
    await settledPack(node, packId);
    const bytes = await packFile(node, packId);
    const table = (await filesOf(bytes)).get(PACK_FILES.table) ?? '';
    assert.is(table.trim().split('\n').length - 1, expected);
    const { word, problems } = await judgedPack(node, bytes);
    assert.equal([word, problems], ['verified', []]);
  }
});

test('lists, exports, what auditors see and counts hold all of a period, also of a day that a clock was ahead of', async () => {
  const today = { from: Date.now() - 1_000, to: Date.now() + 10 * MINUTE_MS };
  await record('cards', 5, 'before');
  ahead = DAY_MS;
  await record('cards', 4, 'ahead');
  ahead = 0;
  await confirmed(await record('cards', 7, 'after'));
  const tomorrow = { from: today.to, to: today.to + 2 * DAY_MS };
  for (const [period, expected] of [
    [today, 12],
    [tomorrow, 4],
  ] as const) {
    const { from, to } = termsOf(period);
    const query = `sourceId=cards&from=${from}&to=${to}`;
    assert.is(await countWithin('cards', period), expected);
    assert.is((await listed(query)).length, expected);
    const { text } = await node.get(`/v1/attestations/export?${query}`);
    assert.is(text.trim().split('\n').length, expected);
  }
  const auditor = { preset: 'auditor', sources: ['cards'], expiresAt: timestampOf(tomorrow.to) };
  const { body } = await node.post('/v1/keys', { name: 'auditor', ...auditor, ...termsOf(today) });
  const key = String(body.apiKey);
  assert.is((await listed('', key)).length, 12);
  const { firstSeq, lastSeq, gaps, forks } = (await node.get('/v1/sources/cards/continuity', { key })).body;
  assert.equal([firstSeq, lastSeq, gaps, forks], [1, 16, [], []]);
  const { text } = await node.get('/v1/sources/cards/models', { key });
  const { items }: { items: { modelId: string }[] } = JSON.parse(text);
  assert.equal(
    items.map(({ modelId }) => modelId),
    ['before', 'after'],
  );
});

test('the store of such a node is sound, also where the release before wrote it; fsck finds where the rows of it are wrong', async () => {
  const store = join(node.config.home, 'store');
  const change = async (work: (store: Store) => Promise<void>): Promise<void> => {
    await using opened = await Store.open(store);
    await work(opened);
  };
  const problems = async (): Promise<readonly string[]> =>
    (await fsck(node.config.home)).report.findings.map(
      ({ severity, table, detail }) => `${severity} ${table} ${detail}`,
    );
  await node.stop();
  await requireWholeHome(node.config.home);
  await change((opened) => makeEarlier(opened, 5));
  assert.match((await problems()).join(), /^warning format [^,]*$/);
  await node.start();
  assert.is(await countWithin('cards', { from: 0, to: Date.now() }), 12);
  await node.stop();
  await requireWholeHome(node.config.home);
  await change(async (opened) => {
    const [[parts, step] = [[], undefined]] = await Array.fromAsync(timeStepTable.under(opened, [], { limit: 1 }));
    assert.ok(step);
    await opened.write([timeStepTable.del(...parts), timeStepTable.put(['eu', 1], step)]);
  });
  const found = (await problems()).filter((problem) => problem.includes('time-step'));
  assert.equal(found, ['problem time-step is missing', 'problem time-step belongs to no record']);
});

test.run();
