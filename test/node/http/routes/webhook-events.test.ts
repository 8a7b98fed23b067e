import { test } from 'uvu';
import * as assert from 'uvu/assert';
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

test('a lock that ends within thirty days is told of, once', async () => {
  const hook = await node.post('/v1/webhooks', { url: receiver.url, events: ['lock.expiring'] });
  assert.is(hook.status, 200, hook.text);
  const asked = { sourceId: 'loans', scope: 'all', retentionPeriodDays: 1825, lockedBy: 'staff-1' };
  const lock = await node.post('/v1/retention-lock', asked);
  assert.is(lock.status, 200, lock.text);
  await node.context.dueAlerts.look();
  assert.is(receiver.received.length, 0, 'years before');
  ahead = 1_800 * DAY_MS;
  await node.context.dueAlerts.look();
  await until('it to be told of', () => receiver.received.length > 0);
  await node.context.dueAlerts.look();
  const told = receiver.received.map(({ body }) => Object(JSON.parse(body)));
  assert.equal(
    told.map(({ type, data }) => [type, data.attestationId]),
    [['lock.expiring', lock.body.attestationId]],
  );
});

test.run();
