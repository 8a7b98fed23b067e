import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import {
  DeliveriesAnswerShape,
  MadeWebhookAnswerShape,
  WebhooksAnswerShape,
} from '../../../../protocol/api/webhooks.ts';
import { sourceIndex } from '../../../../node/records/sources/source-index.ts';
import { sourceKey } from '../../../../node/records/sources/sources.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { HttpAnswer } from '../../../fixtures/node-client.ts';
import { until } from '../../../fixtures/until.ts';
import { Receiver } from '../../alerts/receiver.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const DAY_MS = 86_400_000;
const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 200 } });
const node = network.node();
const receiver = await Receiver.start();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});
test.before.each(async () => {
  receiver.received.length = 0;
  receiver.answer = (response) => response.writeHead(204).end();
  for (const { webhookId } of itemsOf((await node.get('/v1/webhooks')).body.webhooks)) {
    await node.send('DELETE', `/v1/webhooks/${String(webhookId)}`, undefined);
  }
});

const checkMade = shapeCheck(MadeWebhookAnswerShape);
const checkList = shapeCheck(WebhooksAnswerShape);
const checkDeliveries = shapeCheck(DeliveriesAnswerShape);

async function made(...events: readonly string[]): Promise<{ id: string; secret: string }> {
  const { status, body, text } = await node.post('/v1/webhooks', { url: receiver.url, events: [...events] });
  assert.is(status, 200, text);
  checkMade(body);
  return { id: String(body.webhookId), secret: String(body.secret) };
}

async function deliveriesOf(id: string): Promise<readonly JsonObject[]> {
  const { status, body, text } = await node.get(`/v1/webhooks/${id}/deliveries`);
  assert.is(status, 200, text);
  checkDeliveries(body);
  return itemsOf(body.items);
}

/** What was told of an event: a delivery of the test before may still be under way. */
function dataOf(event: string): readonly JsonObject[] {
  const told = receiver.received.map(({ body }) => Object(JSON.parse(body)));
  return told.filter(({ type }) => type === event).map(({ data }) => data);
}

function itemsOf(value: JsonObject[string] | undefined): readonly JsonObject[] {
  return value !== undefined && isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** An incident whose clock ends in so many milliseconds. */
async function incidentDueIn(milliseconds: number): Promise<string> {
  const at = new Date(Date.now() - 15 * DAY_MS + milliseconds).toISOString();
  const { body, text } = await node.post('/v1/incident', {
    sourceId: 'loans',
    severity: 'serious',
    description: 'a text that no delivery holds',
    incidentPeriodStart: at,
    awarenessAt: at,
  });
  assert.ok(body.success, text);
  return String(body.incidentId);
}

test('confirmed records are told of by ids alone, signed by the secret that was shown once', async () => {
  const { id, secret } = await made('record.confirmed');
  const { body } = await node.get('/v1/webhooks');
  checkList(body);
  assert.not.match(JSON.stringify(body), /whsec_/);
  const ids = [await node.attest({ secretText: 'a payload' }), await node.attest({ n: 2 })];
  const told = (): string[] =>
    receiver.received.flatMap(({ body: text }) => Object(JSON.parse(text)).data.attestationIds);
  await until('both to be told of', async () => {
    await node.seal();
    await node.context.confirmedBatches.look();
    return ids.every((one) => told().includes(one));
  });
  for (const { headers, body: text } of receiver.received) {
    const { type } = Object(new Webhook(secret).verify(text, asText(headers)));
    assert.is(type, 'record.confirmed');
    assert.not.match(text, /payload/);
  }
  await until('it to be noted', async () => (await deliveriesOf(id)).every(({ state }) => state === 'delivered'));
  assert.equal(told().toSorted(), [...new Set(told())].toSorted());
});

test('after a rotation both secrets sign, and the new one alone is shown', async () => {
  const first = await made('incident.due-soon');
  const rotated = await node.post(`/v1/webhooks/${first.id}/rotate`, {});
  assert.is(rotated.status, 200, rotated.text);
  const secret = String(rotated.body.secret);
  assert.is.not(secret, first.secret);
  await incidentDueIn(3_600_000);
  await node.context.dueAlerts.look();
  await until('it to be told of', () => receiver.received.length > 0);
  const [{ body, headers } = { body: '', headers: {} }] = receiver.received;
  for (const one of [first.secret, secret]) new Webhook(one).verify(body, asText(headers));
  assert.is(String(headers['webhook-signature']).split(' ').length, 2);
});

test('a missed clock is told of once, however often it is looked for', async () => {
  const { id } = await made('incident.overdue');
  const incidentId = await incidentDueIn(3_000);
  const told = () => dataOf('incident.overdue');
  await until('it to be told of', async () => {
    await node.context.dueAlerts.look();
    return told().length > 0;
  });
  await node.context.dueAlerts.look();
  await node.context.dueAlerts.look();
  await until('all to be delivered', async () => (await deliveriesOf(id)).every(({ state }) => state === 'delivered'));
  assert.equal(
    told().map((data) => [data.incidentId, data.state]),
    [[incidentId, 'overdue']],
  );
  assert.not.match(JSON.stringify(receiver.received), /no delivery holds/);
});

test('an incident that is late when it is recorded is told of, once; one recorded before anybody listens is not', async () => {
  await incidentDueIn(-40 * DAY_MS);
  await made('incident.overdue', 'incident.due-soon');
  const late = [await incidentDueIn(-60_000), await incidentDueIn(-DAY_MS), await incidentDueIn(-25 * DAY_MS)];
  const told = () => [...dataOf('incident.overdue'), ...dataOf('incident.due-soon')];
  for (let looks = 0; looks < 3; looks++) await node.context.dueAlerts.look();
  await until('all to be told of', () => told().length >= late.length);
  await node.context.dueAlerts.look();
  assert.equal(
    told()
      .map(({ incidentId, state }) => [incidentId, state])
      .toSorted(),
    late.map((incidentId) => [incidentId, 'overdue']).toSorted(),
  );
});

test('a review that was due before it is recorded is told of, once, unless a newer record was made', async () => {
  const past = '2026-01-15';
  const recorded = async (path: string, body: JsonObject): Promise<string> => {
    const { status, body: answer, text } = await node.post(path, body);
    assert.is(status, 200, text);
    return String(answer.attestationId);
  };
  const system = (systemRef: string, reviewDueAt: string): Promise<string> =>
    recorded('/v1/system', { systemRef, role: 'deployer', intendedPurpose: 'a purpose', reviewDueAt });
  await system('nobody-listens', past);
  await made('review.due');
  await system('made-again', past);
  await system('made-again', new Date(Date.now() + 365 * DAY_MS).toISOString());
  const data = { framework: 'EU_AI_ACT', clause: '73(9)', reason: 'none', assertedBy: 'staff-1', reviewDueAt: past };
  const late = [
    await system('late', past),
    await recorded('/v1/document', {
      docType: 'policy',
      docVersion: '1',
      sha256: `sha256:${'a'.repeat(64)}`,
      reviewDueAt: past,
    }),
    await recorded('/v1/supplier', { supplier: 'Example Models Ltd', component: 'model', nextReviewAt: past }),
    await recorded('/v1/risk-assessment', { sourceId: 'loans', risksIdentified: ['one'], reviewDueAt: past }),
    await recorded('/v1/tiered-attest', {
      sourceId: 'loans',
      data,
      complianceMeta: { serviceEventType: 'NOT_APPLICABLE' },
    }),
  ];
  for (let looks = 0; looks < 3; looks++) await node.context.dueAlerts.look();
  await until('all to be told of', () => dataOf('review.due').length >= late.length);
  await node.context.dueAlerts.look();
  assert.equal(
    dataOf('review.due')
      .map(({ attestationId, moment }) => [attestationId, moment])
      .toSorted(),
    late.map((id) => [id, 'due']).toSorted(),
  );
});

test('a review is told of as it comes near and when it is due, unless a newer record was made', async () => {
  await made('review.due');
  const days = (count: number): string => new Date(Date.now() + count * 86_400_000).toISOString();
  const system = (systemRef: string, reviewDueAt: string): Promise<HttpAnswer> =>
    node.post('/v1/system', { systemRef, role: 'deployer', intendedPurpose: 'a purpose of no body', reviewDueAt });
  await system('far', days(60));
  await system('superseded', days(10));
  await system('superseded', days(90));
  const near = String((await system('near', days(10))).body.attestationId);
  const due = String((await system('due', new Date(Date.now() + 5_000).toISOString())).body.attestationId);
  const told = () => dataOf('review.due');
  const look = async (): Promise<number> => {
    await node.context.dueAlerts.look();
    return told().length;
  };
  await until('the one that is due', async () => (await look()) === 3);
  await look();
  await until('all to be delivered', () => told().length === 3);
  const short = told().map(({ attestationId, moment, kind }) => [attestationId, moment, kind]);
  assert.equal(
    short.toSorted(),
    [
      [near, 'soon', 'system'],
      [due, 'soon', 'system'],
      [due, 'due', 'system'],
    ].toSorted(),
  );
  assert.not.match(JSON.stringify(receiver.received), /no body/);
});

test('a record that is lost is told of once, by its source and place', async () => {
  for (let n = 0; n < 3; n++) await node.attest({ n }, { sourceId: 'torn' });
  await made('gap.found');
  const { store, gapSearch } = node.context;
  const source = sourceIndex.key('acc_eu_unmetered', sourceKey('torn'));
  const rows = await Array.fromAsync(store.range({ gte: `${source}/`, lt: `${source}0` }));
  assert.is(rows.length, 3, 'each of its records was made by itself');
  const [, [key, value] = ['', Buffer.alloc(0)]] = rows;
  await store.write([{ type: 'del', key }]);
  await until('it to be told of', async () => {
    await gapSearch.look();
    return dataOf('gap.found').length > 0;
  });
  for (let looks = 0; looks < 20; looks++) await gapSearch.look();
  await store.write([{ type: 'put', key, value }]);
  assert.equal(dataOf('gap.found'), [{ sourceId: 'torn', reason: 'missing', from: 2, to: 2 }]);
});

test('what is not taken is tried again under the same id; a redirect is not followed', async () => {
  const { id } = await made('key.expiring');
  let answers = 0;
  receiver.answer = (response) => {
    answers++;
    if (answers === 1) response.writeHead(307, { location: `${receiver.url}/inward` }).end();
    else response.writeHead(500, { 'retry-after': '1' }).end();
  };
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  await node.post('/v1/keys', { preset: 'ingest', expiresAt });
  await node.context.dueAlerts.look();
  await until('the first attempt', async () => (await deliveriesOf(id)).some(({ attempts }) => attempts === 1));
  const [delivery] = await deliveriesOf(id);
  assert.equal([delivery?.state, delivery?.lastStatus, receiver.received.length], ['pending', 307, 1]);
  receiver.answer = (response) => response.writeHead(200).end();
  const path = `/v1/webhooks/${id}/deliveries/${String(delivery?.deliveryId)}/replay`;
  assert.is((await node.post(path, {})).status, 200);
  await until('it to be delivered', async () => (await deliveriesOf(id)).every(({ state }) => state === 'delivered'));
  const ids = receiver.received.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body}`);
  assert.is(new Set(ids).size, 1);
  assert.is(ids.length, 2);
});

test('410 ends a webhook', async () => {
  const { id } = await made('key.expiring');
  receiver.answer = (response) => response.writeHead(410).end();
  await node.post('/v1/keys', { preset: 'ingest', expiresAt: new Date(Date.now() + 86_400_000).toISOString() });
  await node.context.dueAlerts.look();
  await until('it to be disabled', async () => {
    const [webhook] = itemsOf((await node.get('/v1/webhooks')).body.webhooks);
    return webhook?.disabledAt !== null;
  });
  await until('it to be given up', async () => (await deliveriesOf(id)).every(({ state }) => state === 'failed'));
});

test('a receiver that hangs keeps no other one waiting', async () => {
  const other = await Receiver.start();
  try {
    receiver.answer = () => {};
    const hanging = await made('key.expiring');
    await node.post('/v1/webhooks', { url: other.url, events: ['key.expiring'] });
    await node.post('/v1/keys', { preset: 'ingest', expiresAt: new Date(Date.now() + 86_400_000).toISOString() });
    await node.context.dueAlerts.look();
    await until('the other one to be told', () => other.received.length > 0);
    const [delivery] = await deliveriesOf(hanging.id);
    assert.is(delivery?.state, 'pending');
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('what is asked wrongly is refused, and changes nothing', async () => {
  const url = receiver.url;
  const wrong: readonly (readonly [JsonObject, 'invalid-field' | 'missing-field'])[] = [
    [{ url, events: [] }, 'invalid-field'],
    [{ url, events: ['record.erased'] }, 'invalid-field'],
    [{ url: 'ftp://hooks.example/', events: ['key.expiring'] }, 'invalid-field'],
    [{ url: 'http://user:word@hooks.example/', events: ['key.expiring'] }, 'invalid-field'],
    [{ url: 'http://169.254.169.254/latest', events: ['key.expiring'] }, 'invalid-field'],
    [{ events: ['key.expiring'] }, 'missing-field'],
  ];
  for (const [body, code] of wrong) requireProblem(await node.post('/v1/webhooks', body), code, JSON.stringify(body));
  assert.is(itemsOf((await node.get('/v1/webhooks')).body.webhooks).length, 0);
  for (let n = 0; n < 10; n++) await made('key.expiring');
  requireProblem(await node.post('/v1/webhooks', { url, events: ['key.expiring'] }), 'too-many-webhooks', 'one more');
});

test('what is asked wrongly of deliveries is refused before the webhook is looked for', async () => {
  for (const query of ['limit=0', 'cursor=x', 'state=failed']) {
    const [field] = query.split('=');
    const answer = await node.get(`/v1/webhooks/whk_eu_none/deliveries?${query}`);
    requireProblem(answer, 'invalid-field', query, field);
  }
  requireProblem(await node.get('/v1/webhooks/whk_eu_none/deliveries'), 'webhook-not-found', 'no such webhook');
});

test('a cursor leads through the deliveries of its own webhook alone', async () => {
  const [one, other] = [await made('incident.due-soon'), await made('key.expiring')];
  for (let n = 0; n < 2; n++) await incidentDueIn(3_600_000);
  await node.context.dueAlerts.look();
  await until('both to be told of', async () => (await deliveriesOf(one.id)).length === 2);
  const { body } = await node.get(`/v1/webhooks/${one.id}/deliveries?limit=1`);
  const query = `cursor=${String(body.nextCursor)}`;
  assert.is(itemsOf((await node.get(`/v1/webhooks/${one.id}/deliveries?${query}`)).body.items).length, 1);
  requireProblem(await node.get(`/v1/webhooks/${other.id}/deliveries?${query}`), 'invalid-field', 'another webhook');
});

test('the webhooks of another account are not there', async () => {
  const { id } = await made('key.expiring');
  const ask = { key: API_KEYS.enterprise };
  assert.is((await node.get('/v1/webhooks', ask)).text.includes(id), false);
  requireProblem(await node.send('DELETE', `/v1/webhooks/${id}`, undefined, ask), 'webhook-not-found', id);
  requireProblem(await node.post(`/v1/webhooks/${id}/rotate`, {}, ask), 'webhook-not-found', id);
  requireProblem(await node.get(`/v1/webhooks/${id}/deliveries`, ask), 'webhook-not-found', id);
});

function asText(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

test.run();
