import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { Store } from '../../../node/store/store.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { keyErasureOf, seedOperation } from '../../fixtures/payload-keys.ts';
import { until } from '../../fixtures/until.ts';
import { type Damage, fsckAfter, put, StoredRows, testDamages } from './damaged-home.ts';
import { drop, edit, move } from './mutations.ts';

const network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local' });
const node = network.node('eu');
const peer = network.node('us');
test.after(() => network[Symbol.asyncDispose]());

async function post(path: string, body: JsonObject): Promise<JsonObject> {
  const answer = await node.post(path, { sourceId: 'triage', ...body });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
}

await node.post('/v1/oversight-policies', { name: 'all', when: { sourceId: 'triage' } });
const { sessionId = null } = await post('/v1/session/start', {});
for (let n = 0; n < 3; n++) await post('/v1/attest', { data: { n }, sessionId, subjectRef: 'person' });
const { attestationId = null } = await post('/v1/attest', { data: {}, subjectRef: 'another' });
await post('/v1/erasures', { attestationIds: [attestationId], legalBasis: 'b', requestedBy: 'r' });
const incident = { severity: 'serious', description: 'd', incidentPeriodStart: '2026-01-01' };
const { incidentId = null } = await post('/v1/incident', incident);
const complianceMeta = { serviceEventType: 'AUTHORITY_NOTIFICATION' };
await post('/v1/tiered-attest', { data: {}, incidentId, complianceMeta });
for (const scope of ['all', 'decisions']) {
  const lock = { scope, retentionPeriodDays: 1825, legalHold: true, lockedBy: 'Anna' };
  const { lockId = null } = await post('/v1/retention-lock', lock);
  const { apiKey } = (await node.post('/v1/keys', { name: scope, preset: 'compliance' })).body;
  if (scope === 'decisions') continue;
  await node.post('/v1/retention-lock/release', { lockId, releasedBy: 'Bert' }, { key: String(apiKey) });
}
const events = { scope: ['event:TECH_DOC', 'event:QMS'], retentionPeriodDays: 3653, startsAt: '2030-01-01' };
await post('/v1/retention-lock', { ...events, legalHold: true, lockedBy: 'Anna' });
await node.seal();
await node.context.governance.oversight.look();
await until('the peer holds the batch', () => peer.context.chains.head(nodeId('eu')).batch === 1);
// On an empty topic a lost store would be taken for a first start.
await until('the batch is decided', () => peer.context.federationLog.size === 1);
await node.stop();

const otherEnd = (text: string): string => text.replace(/.$/, (last) => (last === 'Z' ? 'Y' : 'Z'));
const plusOne = (value: string): string => String(Number(value) + 1);

const DAMAGES: readonly Damage[] = [
  {
    what: 'a policy stands under another account',
    mutate: move('oversight-policy/', 0, (key) => key.replace('unmetered', 'developer')),
    found: ['oversight-policy', /is of another account/],
  },
  {
    what: 'what waits for a person is another record',
    mutate: edit('oversight/', 0, (row) => row.replace(/(att_eu_\w{25})./, '$1!')),
    found: ['oversight', /does not read/],
  },
  {
    what: 'what waits for a person stands in another place',
    mutate: move('oversight/', 0, (key) => key.replace(/.$/, (last) => String((Number(last) + 1) % 10))),
    found: ['oversight', /is not of the record/],
  },
  {
    what: 'a record that others link to is not marked',
    mutate: drop('linked/', 0),
    found: ['linked', /is missing/],
  },
  {
    what: 'the mark of a linked record is of no record',
    mutate: async () => [put('linked/att_eu', '')],
    found: ['linked', /is no row of this table/],
  },
  {
    what: 'the mark of a linked record holds something',
    mutate: edit('linked/', 0, () => 'x'),
    found: ['linked', /is no row of this table/],
  },
  {
    what: 'the count of a session is higher',
    mutate: edit('session-count/', 0, plusOne),
    found: ['session-count', /3 decisions name/],
  },
  {
    what: 'the count of a session is dropped',
    mutate: drop('session-count/', 0),
    found: ['session-count', /is missing/],
  },
  {
    what: 'a session of nothing is counted',
    mutate: async () => [put('session-count/att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ', '2')],
    found: ['session-count', /holds 2, but 0/],
  },
  {
    what: 'a legal hold is counted twice',
    mutate: edit('hold-count/', -1, plusOne),
    found: ['hold-count', /1 legal holds hold/],
  },
  {
    what: 'the count of legal holds is dropped',
    mutate: drop('hold-count/', -1),
    found: ['hold-count', /holds 0, but 1/],
  },
  {
    what: 'the count of legal holds over an event is higher',
    mutate: async (rows) => {
      const [[key]] = [await rows.at('hold-count/', -1)];
      return [put(key.replace(/[^/]*$/, 'event:TECH_DOC'), '3')];
    },
    found: ['hold-count', /holds 3, but 1/],
  },
  {
    what: 'legal holds over an event that no lock names are counted',
    mutate: async (rows) => {
      const [[key]] = [await rows.at('hold-count/', -1)];
      return [put(key.replace(/[^/]*$/, 'event:NONE'), '1')];
    },
    found: ['hold-count', /that no lock has/],
  },
  {
    what: 'legal holds of no source are counted',
    mutate: async () => [put(`hold-count/unmetered/${'0'.repeat(32)}/all`, '1')],
    found: ['hold-count', /that no lock has/],
  },
  {
    what: 'who placed a hold stands under another lock',
    mutate: move('hold/', 0, otherEnd),
    found: ['hold', /belongs to no legal hold/],
  },
  { what: 'a lock is dropped', mutate: drop('lock/', 0), found: ['lock', /is missing/] },
  { what: 'the end of a lock is dropped', mutate: drop('lock-end/', 0), found: ['lock-end', /is missing/] },
  {
    what: 'the period of a lock is another',
    mutate: move('lock-days/', 0, (key) => key.replace('1825', '1824')),
    found: ['lock-days', /is missing|belongs to no record/],
  },
  { what: 'an incident is dropped', mutate: drop('incident/', 0), found: ['incident', /is missing/] },
  { what: 'a notification is dropped', mutate: drop('notification/', 0), found: ['notification', /is missing/] },
  {
    what: 'a key that was erased is back',
    mutate: async (rows) => [await seedOperation(rows.store, String(attestationId), new Uint8Array(32).fill(7))],
    found: ['payload-keys', /has the key of att_\w+, whose payload was erased/],
  },
  {
    what: 'a person leads to a record of another account',
    mutate: move('subject/', 0, (key) => key.replace('unmetered', 'developer')),
    found: ['subject', /no record of this account/],
  },
  {
    what: 'the count of legal holds is no number',
    mutate: edit('hold-count/', -1, () => 'many'),
    found: ['hold-count', /does not read/],
  },
  {
    what: 'the index rows of a lock, of what a person is the subject of, and of an incident are no numbers',
    mutate: async (rows) => {
      const ids = await Promise.all(['lock/', 'subject/', 'incident/'].map((table) => rows.at(table, 0)));
      const stray = ids.map(([key, id]) => put(`${key}x`, id));
      return [...ids.map(([, id]) => put(`record/${Buffer.from(id).toString()}`, 'none')), ...stray];
    },
    found: ['record', /does not read/],
  },
  {
    what: 'a person leads to no record',
    mutate: edit('subject/', 0, otherEnd),
    found: ['subject', /is no row/],
  },
];

test('the store is whole', async () => {
  assert.equal((await fsckAfter(node.config.home, async () => [])).report.findings, []);
});

testDamages(node.config.home, DAMAGES);

test('a person whose record lost its payload is pointed out', async () => {
  const { report } = await fsckAfter(node.config.home, async (rows) => {
    const [, id] = await rows.at('subject/', 0);
    return keyErasureOf(rows.store, Buffer.from(id).toString());
  });
  assert.equal(
    report.findings.map(({ severity, table }) => [severity, table]),
    [['warning', 'subject']],
  );
});

test('a store that was lost and is taken back from peers has the same rows, and whole ones', async () => {
  const tables = ['session-count', 'hold-count', 'lock', 'lock-end', 'lock-days', 'incident', 'notification'];
  const before = await rowsOf(tables);
  assert.ok(before.every((rows) => rows.length > 0));
  await rm(join(node.config.home, 'store'), { recursive: true });
  await node.start();
  await node.stop();
  assert.equal(await rowsOf(tables), before);
  const { report } = await fsckAfter(node.config.home, async () => []);
  assert.equal(report.findings, []);
});

/** Rows of the stopped node's tables. */
async function rowsOf(tables: readonly string[]): Promise<readonly (readonly string[])[]> {
  await using store = await Store.open(join(node.config.home, 'store'));
  const rows = new StoredRows(store);
  const all = await Promise.all(tables.map((table) => rows.under(`${table}/`)));
  return all.map((found) => found.map(([key, value]) => `${key} ${Buffer.from(value).toString()}`));
}

test.run();
