import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { Receiver } from './receiver.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** From the moment of awareness to the end of the clock of a serious incident. */
const CLOCK_DAYS = 15;

/** How far the clock of `eu` is ahead, and how much time has passed for all. In milliseconds. */
let ahead = 0;
let passed = 0;
const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'ca'],
  ledger: 'local',
  overridesOf: (id) => ({ now: () => Date.now() + passed + (id === 'eu' ? ahead : 0) }),
});
const node = network.node('eu');
const receiver = await Receiver.start();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

function told(): readonly unknown[] {
  return receiver.received.map(({ body }) => JSON.parse(body).type);
}

async function clockToBe(isRight: boolean): Promise<void> {
  const { follower, isClockRight } = node.context;
  await until('the clocks to be compared', () => {
    follower.askClocks();
    return isClockRight() === isRight && follower.clocks.isOff !== isRight;
  });
}

test('an incident is overdue by a clock that is right alone, and is told of then', async () => {
  await node.post('/v1/webhooks', { url: receiver.url, events: ['incident.overdue'] });
  const awarenessAt = new Date(Date.now() - (CLOCK_DAYS - 2) * DAY_MS).toISOString();
  const incident = { sourceId: 'loans', severity: 'serious', description: 'x', incidentPeriodStart: awarenessAt };
  const { status, text } = await node.post('/v1/incident', { ...incident, awarenessAt });
  assert.is(status, 200, text);
  ahead = 3 * DAY_MS;
  await clockToBe(false);
  await node.context.dueAlerts.look();
  ahead = 0;
  await clockToBe(true);
  await node.context.dueAlerts.look();
  assert.equal(told(), []);
  passed = 2 * DAY_MS + HOUR_MS;
  await clockToBe(true);
  await node.context.dueAlerts.look();
  await until('the incident to be told of', () => told().length > 0);
  assert.equal(told(), ['incident.overdue']);
});

test.run();
