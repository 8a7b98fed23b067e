import ICAL from 'ical.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { accountCalendarTable } from '../../../../node/alerts/calendar/calendars.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const DAY_MS = 86_400_000;
const KEY = API_KEYS.enterprise;

async function made(key: string = KEY): Promise<string> {
  const { status, body, text } = await node.post('/v1/calendar', {}, { key });
  assert.is(status, 200, text);
  return new URL(String(body.url)).pathname.replace(/^.*(?=\/v1\/)/, '');
}

interface Event {
  readonly uid: string;
  readonly start: string;
  readonly state: string;
  readonly alarms: number;
}

async function eventsAt(path: string): Promise<readonly Event[]> {
  const { status, text, headers } = await node.get(path, { key: null });
  assert.is(status, 200, text);
  assert.is(headers.get('content-type'), 'text/calendar; charset=utf-8');
  assert.is(headers.get('referrer-policy'), 'no-referrer');
  assert.ok(
    text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75),
    'lines are folded',
  );
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents('vevent').map((component) => {
    const event = new ICAL.Event(component);
    const state = String(component.getFirstPropertyValue('status'));
    const alarms = component.getAllSubcomponents('valarm').length;
    return { uid: event.uid, start: event.startDate.toJSDate().toISOString(), state, alarms };
  });
}

async function incident(sourceId: string): Promise<{ id: string; dueAt: string }> {
  const answer = await node.post(
    '/v1/incident',
    { sourceId, severity: 'serious', description: 'a text of nobody’s calendar', incidentPeriodStart: '2026-01-01' },
    { key: KEY },
  );
  assert.is(answer.status, 200, answer.text);
  const { body } = await node.get(`/v1/incidents/${String(answer.body.incidentId)}`, { key: KEY });
  return { id: String(answer.body.incidentId), dueAt: String(Object(body.incident).earliestDueAt) };
}

test('another library reads the clocks and the ends of keys, at their times, with an alarm a day before', async () => {
  const { id, dueAt } = await incident('loans');
  const expiresAt = new Date(Date.now() + 10 * DAY_MS).toISOString();
  const key = Object((await node.post('/v1/keys', { preset: 'ingest', expiresAt }, { key: KEY })).body.key);
  const path = await made();
  const events = await eventsAt(path);
  const seconds = (at: string): string => new Date(Math.floor(Date.parse(at) / 1000) * 1000).toISOString();
  assert.equal(
    events.find(({ uid }) => uid === id),
    { uid: id, start: seconds(dueAt), state: 'CONFIRMED', alarms: 1 },
  );
  assert.is(events.find(({ uid }) => uid === key.id)?.start, seconds(expiresAt));
  assert.not.match((await node.get(path, { key: null })).text, /nobody/);
});

test('what is to be looked at again stands in it until a newer record was made', async () => {
  const system = async (reviewDueAt: string): Promise<string> => {
    const body = { systemRef: 'scoring', role: 'deployer', intendedPurpose: 'nobody’s', reviewDueAt };
    return String((await node.post('/v1/system', body, { key: KEY })).body.attestationId);
  };
  const path = await made();
  const first = await system('2031-05-01');
  assert.is((await eventsAt(path)).find(({ uid }) => uid === `${first}-review`)?.start, '2031-05-01T00:00:00.000Z');
  const second = await system('2032-05-01');
  const reviews = (await eventsAt(path)).filter(({ uid }) => uid.endsWith('-review'));
  assert.equal(
    reviews.map(({ uid }) => uid),
    [`${second}-review`],
  );
});

test('a risk assessment stands in it on the day that it is to be looked at again', async () => {
  const body = { sourceId: 'assessed', risksIdentified: ['a wrong refusal'], reviewDueAt: '2031-06-01' };
  const { attestationId } = (await node.post('/v1/risk-assessment', body, { key: KEY })).body;
  const event = (await eventsAt(await made())).find(({ uid }) => uid === `${String(attestationId)}-review`);
  assert.is(event?.start, '2031-06-01T00:00:00.000Z');
});

test('an incident that was notified is cancelled', async () => {
  const { id } = await incident('notified');
  const sent = {
    sourceId: 'notified',
    incidentId: id,
    to: 'authority',
    reportType: 'final',
    sentAt: new Date().toISOString(),
  };
  const answer = await node.post('/v1/notification', sent, { key: KEY });
  assert.is(answer.status, 200, answer.text);
  const event = (await eventsAt(await made())).find(({ uid }) => uid === id);
  assert.is(event?.state, 'CANCELLED');
});

test('a key sees the calendar of its sources', async () => {
  const { id } = await incident('claims');
  const terms = { preset: 'auditor', sources: ['loans'], expiresAt: new Date(Date.now() + DAY_MS).toISOString() };
  const { body } = await node.post('/v1/keys', terms, { key: KEY });
  const uids = (await eventsAt(await made(String(body.apiKey)))).map(({ uid }) => uid);
  assert.not(uids.includes(id));
  assert.ok(uids.every((uid) => uid.startsWith('inc_')));
});

test('a key of a period sees no lock in its calendar, and one of the whole account does', async () => {
  const lock = { sourceId: 'loans', scope: 'all', retentionPeriodDays: 1825 };
  const { attestationId } = (await node.post('/v1/retention-lock', lock, { key: KEY })).body;
  const terms = { scopes: ['export:read'], from: '2020-01-01T00:00:00Z', to: '2020-12-31T00:00:00Z' };
  const { body } = await node.post('/v1/keys', terms, { key: KEY });
  const isIn = async (path: string) => (await eventsAt(path)).some(({ uid }) => uid === attestationId);
  assert.equal([await isIn(await made(String(body.apiKey))), await isIn(await made())], [false, true]);
});

test('each key has a calendar of its own, and ends no other’s', async () => {
  const own = await made();
  const { body } = await node.post('/v1/keys', { preset: 'auditor' }, { key: KEY });
  const auditor = String(body.apiKey);
  const theirs = await made(auditor);
  const works = async (path: string) => (await node.get(path, { key: null })).status === 200;
  assert.equal([await works(own), await works(theirs)], [true, true]);
  assert.is((await node.send('DELETE', '/v1/calendar', undefined, { key: auditor })).status, 200);
  assert.equal([await works(own), await works(theirs)], [true, false]);
  assert.is((await node.send('DELETE', '/v1/calendar', undefined, { key: auditor })).status, 200, 'nothing is there');

  const rows = async () => (await Array.fromAsync(accountCalendarTable.under(node.context.store, []))).length;
  await made(auditor);
  const before = await rows();
  await node.post(`/v1/keys/${String(Object(body.key).id)}/revoke`, {}, { key: KEY });
  const again = await made();
  assert.equal([await works(own), await works(again)], [false, true]);
  assert.is(await rows(), before - 1, 'that of a key that has ended is gone');
});

test('an address ends when it is ended, when another one is made, and with its key', async () => {
  const first = await made();
  const second = await made();
  requireProblem(await node.get(first, { key: null }), 'link-invalid', 'replaced');
  assert.ok((await eventsAt(second)).length > 0);
  await node.send('DELETE', '/v1/calendar', undefined, { key: KEY });
  requireProblem(await node.get(second, { key: null }), 'link-invalid', 'ended');
  const { body } = await node.post('/v1/keys', { preset: 'admin' }, { key: KEY });
  const path = await made(String(body.apiKey));
  await node.post(`/v1/keys/${String(Object(body.key).id)}/revoke`, {}, { key: KEY });
  requireProblem(await node.get(path, { key: null }), 'link-invalid', 'its key ended');
  requireProblem(await node.get(`/v1/calendar/${'A'.repeat(43)}/due.ics`, { key: null }), 'link-invalid', 'made up');
});

test.run();
