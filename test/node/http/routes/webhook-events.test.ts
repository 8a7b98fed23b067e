import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { incoming, ofacEdition } from '../../../fixtures/lists/list-files.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';
import { Receiver } from '../../alerts/receiver.ts';

const DAY_MS = 86_400_000;
let ahead = 0;
const network = await TestNetwork.start({ overrides: { now: () => Date.now() + ahead, recordClock: Date.now } });
const node = network.node();
const receiver = await Receiver.start();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

test.before.each(() => {
  receiver.received.length = 0;
});

/** What was told, once something was: the node looks for it three times. */
async function toldAfterLooking(look: () => Promise<void>): Promise<readonly (readonly [string, JsonObject])[]> {
  for (let looks = 0; looks < 3; looks++) await look();
  await until('it to be told of', () => receiver.received.length > 0);
  await look();
  return receiver.received.map(({ body }) => {
    const { type, data } = Object(JSON.parse(body));
    return [String(type), Object(data)];
  });
}

async function listenTo(event: string): Promise<void> {
  const { status, text } = await node.post('/v1/webhooks', { url: receiver.url, events: [event] });
  assert.is(status, 200, text);
}

test('an edition of a list that takes the place of another is told of, once, by its id, its hash and its record', async () => {
  await listenTo('list.updated');
  const { dueAlerts, lists } = node.context;
  const taken = (entries: number) =>
    lists.take('us-ofac-sdn', { files: incoming(ofacEdition(entries)), origin: { kind: 'import', urls: [] } });
  await taken(100);
  await dueAlerts.look();
  assert.is(receiver.received.length, 0, 'the first that is known takes the place of none');
  const { edition } = await taken(101);
  assert.equal(await toldAfterLooking(() => dueAlerts.look()), [
    ['list.updated', { listId: 'us-ofac-sdn', fileHash: edition.fileHash, attestationId: edition.attestationId }],
  ]);
});

test('a list that is found unchanged at its source is told of to nobody', async () => {
  const { dueAlerts, lists } = node.context;
  const edition = lists.current().get('us-ofac-sdn');
  assert.ok(edition);
  const origin = { kind: 'update', urls: [] } as const;
  const confirmed = await lists.confirm('us-ofac-sdn', edition.fileHash, origin);
  const again = await lists.take('us-ofac-sdn', { files: incoming(ofacEdition(101)), origin });
  assert.equal([confirmed.unchanged, again.unchanged], [true, true]);
  await dueAlerts.look();
  const { webhookId = '' } = Object(Object((await node.get('/v1/webhooks')).body.webhooks)[0]);
  const { body } = await node.get(`/v1/webhooks/${webhookId}/deliveries`);
  assert.is(Object(body.items).length, 1, 'the edition that took the place of another, and nothing more');
});

test('batches that the ledger does not name in time are told of, each once, with the ids of the account', async () => {
  await listenTo('anchor.delayed');
  const { confirmedBatches } = node.context;
  const batches: string[][] = [];
  for (const size of [2, 1]) {
    const ids: string[] = [];
    for (let n = 0; n < size; n++) ids.push(await node.attest({ n, size }));
    await node.seal();
    batches.push(ids);
  }
  await confirmedBatches.look();
  assert.is(receiver.received.length, 0, 'before they are late');
  ahead = DAY_MS;
  await confirmedBatches.look();
  await until('both to be told of', () => receiver.received.length > 1);
  const told = await toldAfterLooking(() => confirmedBatches.look());
  const [first, second] = told.map(([type, data]) => [type, data.attestationIds]);
  assert.equal(
    [first, second],
    batches.map((ids) => ['anchor.delayed', ids]),
  );
  assert.is(told.length, 2);
});

test('an assertion that something does not apply is not to be looked at again once a newer one about the same was made', async () => {
  await listenTo('review.due');
  const asserted = async (clause: string, days: number, environment = 'production'): Promise<unknown> => {
    const reviewDueAt = new Date(Date.now() + ahead + days * DAY_MS).toISOString();
    const data = { framework: 'EU_AI_ACT', clause, reason: 'no such system', assertedBy: 'staff-1', reviewDueAt };
    const complianceMeta = { serviceEventType: 'NOT_APPLICABLE' };
    const { status, body, text } = await node.post('/v1/tiered-attest', {
      sourceId: 'not-applicable',
      data,
      environment,
      complianceMeta,
    });
    assert.is(status, 200, text);
    return body.attestationId;
  };
  await asserted('73(4)', 10);
  await asserted('73(4)', 90);
  const other = await asserted('73(5)', 10);
  await asserted('73(5)', 90, 'test');
  const told = await toldAfterLooking(() => node.context.dueAlerts.look());
  assert.equal(
    told.map(([type, data]) => [type, data.attestationId]),
    [['review.due', other]],
    'the one that was replaced by one that counts is not told of',
  );
});

test('a lock that ends within thirty days is told of, once', async () => {
  await listenTo('lock.expiring');
  const asked = { sourceId: 'loans', scope: 'all', retentionPeriodDays: 1825, lockedBy: 'staff-1' };
  const lock = await node.post('/v1/retention-lock', asked);
  assert.is(lock.status, 200, lock.text);
  await node.context.dueAlerts.look();
  assert.is(receiver.received.length, 0, 'years before');
  ahead = 1_800 * DAY_MS;
  const told = await toldAfterLooking(() => node.context.dueAlerts.look());
  assert.equal(
    told.map(([type, data]) => [type, data.attestationId]),
    [['lock.expiring', lock.body.attestationId]],
  );
});

test('a lock is not told of while a longer one, or a legal hold, keeps all that it keeps', async () => {
  const locked = async (sourceId: string, scope: string, days: number, legalHold = false) => {
    const asked = { sourceId, scope, retentionPeriodDays: days, lockedBy: 'staff-1', legalHold };
    const { status, body, text } = await node.post('/v1/retention-lock', asked);
    assert.is(status, 200, text);
    return { id: String(body.attestationId), lockId: String(body.lockId) };
  };
  await locked('renewed', 'decisions', 1_825);
  await locked('renewed', 'all', 3_650);
  const partly = await locked('partly', 'all', 1_825);
  await locked('partly', 'decisions', 3_650);
  const held = await locked('held', 'decisions', 1_825, true);
  const ids = (told: readonly (readonly [string, JsonObject])[]) => told.map(([, data]) => data.attestationId);
  assert.equal(ids(await toldAfterLooking(() => node.context.dueAlerts.look())), [partly.id]);
  const key = String((await node.post('/v1/keys', { preset: 'admin' })).body.apiKey);
  const release = { lockId: held.lockId, releasedBy: 'staff-2', reason: 'the case is closed' };
  const { status, text } = await node.post('/v1/retention-lock/release', release, { key });
  assert.is(status, 200, text);
  receiver.received.length = 0;
  assert.equal(ids(await toldAfterLooking(() => node.context.dueAlerts.look())), [held.id]);
});

test.run();
