import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IncidentAnswerShape } from '../../../../protocol/api/incident.ts';
import { IncidentsAnswerShape } from '../../../../protocol/api/incidents.ts';
import { recordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { type Ask, API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';
import { ENVELOPE, LEAST, NOTHING, objectsOf } from './governance-bodies.ts';

const DAY_MS = 86_400_000;
/** How far the node's clock is ahead. In milliseconds. */
let ahead = 0;
const now = (): number => Date.now() + ahead;
const network = await TestNetwork.start({ overrides: { now } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

let accounts = 0;

/** A key of an account that has nothing yet. */
async function freshAccount(): Promise<Ask> {
  const id = `acc_eu_incidents-${++accounts}`;
  const key = `mk_test_${id}_00000000000000000000000`;
  await node.context.accounts.grant({ id, tier: 'unmetered' }, key);
  return { key };
}

function post(members: JsonObject = {}, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post('/v1/incident', { ...LEAST['/v1/incident'], ...members }, ask);
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function list(query: string, ask: Ask = {}): Promise<readonly JsonObject[]> {
  const body = accepted(await node.get(`/v1/incidents${query}`, ask));
  shapeCheck(IncidentsAnswerShape)(body);
  return objectsOf(body, 'items');
}

async function recordOf(id: unknown): Promise<AttestationRecord> {
  const found = await readRecord(node.context.store, recordId(String(id)));
  assert.ok(found);
  return found.record;
}

/** Tells the authority of an incident; its id stands among `members`. */
function notify(members: JsonObject, ask: Ask): Promise<HttpAnswer> {
  const complianceMeta = { serviceEventType: 'AUTHORITY_NOTIFICATION' };
  return node.post('/v1/tiered-attest', { sourceId: 'triage', data: { n: 1 }, complianceMeta, ...members }, ask);
}

function clockOf(item: JsonObject, ref: string): JsonObject {
  const clock = objectsOf(item, 'clocks').find((one) => one.ref === ref);
  if (clock === undefined) throw new RangeError(`no clock ${ref}`);
  return clock;
}

/** Records that somebody was told of an incident. */
function tell(incidentId: unknown, members: JsonObject, ask: Ask): Promise<HttpAnswer> {
  const least = { to: 'authority', reportType: 'initial', sentAt: new Date(now()).toISOString() };
  return node.post('/v1/notification', { ...least, incidentId: String(incidentId), ...members }, ask);
}

const due = (body: JsonObject): number => Date.parse(String(body.notificationDueAt));

test('an incident is answered with exactly its fields, and its clock starts with the record', async () => {
  const body = accepted(await post({ reportedBy: 'r', criteria: ['health'], memberStates: ['DE'] }));
  shapeCheck(IncidentAnswerShape)(body);
  const members = 'incidentId severity notificationDays clockStart notificationDueAt notificationState articles';
  assert.equal(
    Object.keys(body).toSorted(),
    [
      ...ENVELOPE,
      ...members.split(' '),
      'earliestDueAt',
      'earliestRef',
      'clocks',
      'statutoryClocks',
      'note',
    ].toSorted(),
  );
  assert.equal(body.clockStart, { at: body.submittedAt, basis: 'submittedAt' });
  assert.equal([body.notificationDays, body.notificationState, body.articles], [15, 'open', ['73']]);
  assert.is(due(body), Date.parse(String(body.submittedAt)) + 15 * DAY_MS);
  assert.is(String(body.incidentId).slice(3), String(body.attestationId).slice(3));
  const { claims } = await recordOf(body.attestationId);
  assert.equal([claims.severity, claims.criteria], ['serious', ['health']]);
});

test('a clock starts with awareness where it is asserted, and may be over from the start', async () => {
  const awarenessAt = new Date(now() - 30 * 3_600_000).toISOString();
  const soon = accepted(await post({ severity: 'fatal', awarenessAt }));
  assert.equal(soon.clockStart, { at: awarenessAt, basis: 'awarenessAt' });
  assert.equal([soon.notificationDays, soon.notificationState], [2, 'due-soon']);
  assert.is((await recordOf(soon.attestationId)).claims.notificationDueAt, soon.notificationDueAt);
  const late = accepted(await post({ severity: 'critical', awarenessAt: '2026-01-02' }));
  assert.equal(late.clockStart, { at: '2026-01-02T00:00:00.000Z', basis: 'awarenessAt' });
  assert.equal([late.notificationDueAt, late.notificationState], ['2026-01-04T00:00:00.000Z', 'overdue']);
});

test('times of an incident stand in order, a day being any moment of it', async () => {
  const start = { incidentPeriodStart: '2026-01-02T10:00:00Z' };
  accepted(await post({ ...start, incidentPeriodEnd: '2026-01-02', awarenessAt: '2026-01-02' }));
  accepted(await post({ ...start, incidentPeriodEnd: '2026-01-02T12:00:00+02:00' }));
  const early = '2026-01-02T11:59:59+02:00';
  requireProblem(await post({ ...start, incidentPeriodEnd: early }), 'time-order', 'an end', 'incidentPeriodEnd');
  requireProblem(await post({ ...start, awarenessAt: '2026-01-01' }), 'time-order', 'awareness', 'awarenessAt');
});

test('an incident names the records that it is about, each once, and all of them must be there', async () => {
  const [first, second] = [await node.attest({ n: 'a' }), await node.attest({ n: 'b' })];
  const { attestationId } = accepted(await post({ relatedAttestationIds: [first, second, first] }));
  assert.equal((await recordOf(attestationId)).links.related, [first, second]);
  const foreign = await node.attest({ n: 'c' }, {}, { key: API_KEYS.enterprise });
  const field = 'relatedAttestationIds';
  const answer = await post({ relatedAttestationIds: [first, NOTHING, foreign] });
  requireProblem(answer, 'attestation-not-found', 'records of nothing', field);
  assert.equal(answer.body.missing, [NOTHING, foreign]);
});

test('a correction stands beside the incident that it supersedes', async () => {
  const ask = await freshAccount();
  const first = accepted(await post({}, ask));
  const second = accepted(await post({ supersedes: String(first.incidentId) }, ask));
  assert.is((await recordOf(second.attestationId)).links.supersedes, first.attestationId);
  const items = await list('', ask);
  assert.equal(
    items.map(({ incidentId, supersededBy }) => [incidentId, supersededBy]),
    [
      [first.incidentId, second.incidentId],
      [second.incidentId, null],
    ],
  );
  for (const supersedes of [String(first.attestationId), NOTHING.replace('att', 'inc'), 'x']) {
    requireProblem(await post({ supersedes }, ask), 'incident-not-found', supersedes, 'supersedes');
  }
  const foreign = await post({ supersedes: String(first.incidentId) });
  requireProblem(foreign, 'incident-not-found', 'of another account', 'supersedes');
});

test('an incident goes from open over due soon to overdue, and is listed so', async () => {
  const ask = await freshAccount();
  const serious = accepted(await post({}, ask));
  const critical = accepted(await post({ severity: 'critical' }, ask));
  const states = async () =>
    (await list('', ask)).map(({ incidentId, notificationState: state }) => [incidentId, state]);
  const of = (state: string) => list(`?state=${state}`, ask);
  const [early, late] = [critical.incidentId, serious.incidentId];
  const steps: readonly (readonly [days: number, first: string, second: string])[] = [
    [0, 'open', 'open'],
    [1.5, 'due-soon', 'open'],
    [3, 'overdue', 'open'],
    [14.5, 'overdue', 'due-soon'],
    [16, 'overdue', 'overdue'],
  ];
  try {
    for (const [days, first, second] of steps) {
      ahead = days * DAY_MS;
      assert.equal(await states(), [
        [early, first],
        [late, second],
      ]);
      for (const state of ['open', 'due-soon', 'overdue', 'notified']) {
        const expected = [...(first === state ? [early] : []), ...(second === state ? [late] : [])];
        assert.equal(
          (await of(state)).map(({ incidentId }) => incidentId),
          expected,
          `${state} after ${days} days`,
        );
      }
    }
  } finally {
    ahead = 0;
  }
});

test('an incident is notified by the first record of that event that names it', async () => {
  const ask = await freshAccount();
  const incidentId = String(accepted(await post({ severity: 'critical' }, ask)).incidentId);
  const only = async () => (await list('', ask))[0];
  accepted(await node.post('/v1/attest', { sourceId: 'triage', data: { n: 2 }, incidentId }, ask));
  accepted(await node.post('/v1/tiered-attest', { sourceId: 'triage', data: {}, incidentId }, ask));
  assert.is((await only())?.notificationState, 'open');
  const told = accepted(await notify({ incidentId }, ask));
  assert.is((await recordOf(told.attestationId)).links.incident, incidentId.replace('inc', 'att'));
  // The clock stays there: a node records nothing that lies before what it has recorded.
  ahead += 3 * DAY_MS;
  accepted(await notify({ incidentId }, ask));
  const item = (await only()) ?? {};
  const { notificationState, notifiedAt, notificationAttestationId } = item;
  assert.equal([notificationState, notifiedAt], ['notified', told.submittedAt]);
  assert.is(clockOf(item, 'service').reportedAfterDueAt, false);
  assert.is(notificationAttestationId, told.attestationId);
});

test('an incident of which the provider alone was told is notified at no time', async () => {
  const ask = await freshAccount();
  const incidentId = String(accepted(await post({ severity: 'critical' }, ask)).incidentId);
  const shown = async () => {
    const [{ notifications = [], notificationState, notifiedAt, notificationAttestationId } = {}] = await list('', ask);
    return [Object(notifications).length, notificationState, notifiedAt, notificationAttestationId];
  };
  accepted(await tell(incidentId, { to: 'provider' }, ask));
  accepted(await tell(incidentId, { regime: 'gdpr' }, ask));
  assert.equal((await shown()).with(1, null), [2, null, null, null]);
  const told = accepted(await tell(incidentId, {}, ask));
  assert.equal(await shown(), [3, 'notified-initial', told.submittedAt, told.attestationId]);
});

test('a notification is after the end of one clock and before that of another, side by side', async () => {
  const ask = await freshAccount();
  const awarenessAt = new Date(now() - 3 * DAY_MS).toISOString();
  const { incidentId } = accepted(await post({ severity: 'fatal', awarenessAt }, ask));
  accepted(await notify({ data: { incidentId: String(incidentId), reference: 'BNetzA 12' } }, ask));
  const [item] = await list('?state=notified', ask);
  assert.is(item?.incidentId, incidentId);
  const after = (ref: string) => clockOf(item ?? {}, ref).reportedAfterDueAt;
  assert.equal([after('service'), after('73(3)'), after('73(4)'), after('73(2)')], [true, true, false, false]);
  assert.is(after('33'), null, 'GDPR: its trigger is not asserted');
});

test('the earliest period whose criterion is asserted drives state and order', async () => {
  const ask = await freshAccount();
  const awarenessAt = new Date(now() - 12 * DAY_MS).toISOString();
  const plain = accepted(await post({ awarenessAt }, ask));
  assert.equal([plain.earliestRef, plain.notificationState], ['service', 'open']);
  const death = accepted(await post({ awarenessAt, criteria: ['death'] }, ask));
  assert.equal([death.earliestRef, death.notificationState], ['73(4)', 'overdue']);
  assert.is(death.notificationDueAt, plain.notificationDueAt, 'the service’s own clock stays');
  const network73 = accepted(await post({ awarenessAt, criteria: ['critical-infrastructure'] }, ask));
  assert.is(Date.parse(String(network73.earliestDueAt)), Date.parse(awarenessAt) + 2 * DAY_MS);
  assert.equal(
    (await list('', ask)).map(({ incidentId }) => incidentId),
    [network73.incidentId, death.incidentId, plain.incidentId],
  );
  assert.equal((await list('?state=overdue', ask)).length, 2);
});

test('a deployer is bound by Article 73 where the provider cannot be reached', async () => {
  const ask = await freshAccount();
  const members = { role: 'deployer', criteria: ['death'], awarenessAt: new Date(now() - 1000).toISOString() };
  const reached = accepted(await post(members, ask));
  assert.is(reached.earliestRef, 'service');
  assert.equal([clockOf(reached, '73(4)').dueAt, clockOf(reached, '26(5)').dueAt], [null, null]);
  const unreachable = accepted(await post({ ...members, providerUnreachable: true }, ask));
  assert.is(unreachable.earliestRef, '73(4)');
});

test('a correction starts no later than what it corrects, and closes it', async () => {
  const ask = await freshAccount();
  const awarenessAt = new Date(now() - 3 * DAY_MS).toISOString();
  const first = accepted(await post({ awarenessAt, criteria: ['critical-infrastructure'] }, ask));
  const second = accepted(await post({ supersedes: String(first.incidentId) }, ask));
  assert.equal(second.clockStart, { at: awarenessAt, basis: 'supersedes' });
  assert.equal([second.earliestDueAt, second.earliestRef], [first.earliestDueAt, '73(3)']);
  assert.is(due(second), due(first));
  const third = accepted(await post({ supersedes: String(second.incidentId), awarenessAt: '2026-01-05' }, ask));
  assert.equal(third.clockStart, { at: '2026-01-05T00:00:00.000Z', basis: 'awarenessAt' });
  const states = (await list('', ask)).map(({ incidentId, notificationState }) => [incidentId, notificationState]);
  assert.equal(
    new Map(states.map(([id, state]) => [String(id), state])),
    new Map([
      [String(first.incidentId), 'superseded'],
      [String(second.incidentId), 'superseded'],
      [String(third.incidentId), 'overdue'],
    ]),
  );
  accepted(await tell(first.incidentId, { reportType: 'final' }, ask));
  const [open] = await list('?state=notified', ask);
  assert.ok(open, 'what was told of the first is told of its corrections');
});

test('every authority concerned is to have a report, and then a final one', async () => {
  const ask = await freshAccount();
  const { incidentId } = accepted(await post({ memberStates: ['DE', 'FR'] }, ask));
  const state = async () => (await list('', ask))[0]?.notificationState;
  accepted(await tell(incidentId, { to: 'provider' }, ask));
  accepted(await tell(incidentId, { regime: 'gdpr' }, ask));
  accepted(await tell(incidentId, { memberState: 'DE', reportType: 'final' }, ask));
  assert.is(await state(), 'open');
  accepted(await tell(incidentId, { memberState: 'FR' }, ask));
  assert.is(await state(), 'notified-initial');
  accepted(await tell(incidentId, { memberState: 'FR', reportType: 'final' }, ask));
  assert.is(await state(), 'notified');
  const [item] = await list('', ask);
  assert.is(objectsOf(item ?? {}, 'notifications').length, 5);
});

test('when a report was sent counts, and not when it was recorded', async () => {
  const ask = await freshAccount();
  const awarenessAt = new Date(now() - 20 * DAY_MS).toISOString();
  const sentAt = new Date(now() - 10 * DAY_MS).toISOString();
  const { incidentId } = accepted(await post({ awarenessAt }, ask));
  accepted(await tell(incidentId, { sentAt }, ask));
  const [item] = await list('', ask);
  assert.is(clockOf(item ?? {}, 'service').reportedAfterDueAt, false);
  const [notification] = objectsOf(item ?? {}, 'notifications');
  assert.is(notification?.sentAt, sentAt);
  assert.is.not(notification?.submittedAt, sentAt);
});

test('a regime with a trigger of its own has an end once that is asserted', async () => {
  const ask = await freshAccount();
  const at = new Date(now() - 2 * 3_600_000).toISOString();
  const body = accepted(await post({ triggers: [{ regime: 'dora', at }] }, ask));
  assert.is(Date.parse(String(clockOf(body, '19 initial').dueAt)), Date.parse(at) + 4 * 3_600_000);
  assert.is(clockOf(body, '33').dueAt, null);
  accepted(await tell(body.incidentId, { regime: 'dora' }, ask));
  const [item] = await list('', ask);
  assert.equal([item?.notificationState, clockOf(item ?? {}, '19 initial').reportedAfterDueAt], ['open', false]);
  requireProblem(await post({ triggers: [{ regime: 'NONE', at }] }, ask), 'invalid-field', 'no such regime');
  const future = await post({ triggers: [{ regime: 'dora', at: new Date(now() + DAY_MS).toISOString() }] }, ask);
  requireProblem(future, 'time-in-future', 'still to come', 'triggers.0.at');
});

test('an incident that is found not reportable is closed, with a rationale', async () => {
  const ask = await freshAccount();
  const bare = await post({ reportability: 'not-reportable' }, ask);
  requireProblem(bare, 'missing-field', 'without a rationale', 'rationale');
  const body = accepted(await post({ reportability: 'not-reportable', rationale: 'a near miss' }, ask));
  assert.is(body.notificationState, 'closed-not-reportable');
  assert.is((await list('?state=closed-not-reportable', ask)).length, 1);
  assert.equal(await list('?state=open', ask), []);
});

test('an incident without awareness says that its clocks may be late', async () => {
  const ask = await freshAccount();
  assert.match(String(accepted(await post({}, ask)).warnings), /^awareness-not-given/);
  const [item] = await list('', ask);
  assert.match(String(item?.warnings), /^awareness-not-given/);
  const told = accepted(await post({ awarenessAt: '2026-01-02' }, ask));
  assert.equal(told.warnings, []);
});

test('what a decision says it is about must be there, unless it says so in its own data', async () => {
  const ask = await freshAccount();
  const incidentId = NOTHING.replace('att', 'inc');
  for (const path of ['/v1/attest', '/v1/tiered-attest']) {
    const answer = await node.post(path, { sourceId: 'triage', data: {}, incidentId }, ask);
    requireProblem(answer, 'incident-not-found', path, 'incidentId');
  }
  const { warnings } = accepted(await notify({ data: { incidentId } }, ask));
  assert.match(String(warnings), /^data\.incidentId: there is no incident of this id/);
  assert.equal(accepted(await notify({ data: {} }, ask)).warnings, []);
});

test('pages of every kind hold, one after another, what one page of all holds', async () => {
  const ask = await freshAccount();
  for (let n = 0; n < 12; n++) {
    const awarenessAt = new Date(now() - n * 0.6 * DAY_MS).toISOString();
    const sourceId = n % 3 === 0 ? 'credit' : 'triage';
    const severity = n % 2 === 0 ? 'critical' : 'serious';
    const { incidentId } = accepted(await post({ sourceId, severity, awarenessAt }, ask));
    if (n % 4 === 1) accepted(await notify({ incidentId: String(incidentId) }, ask));
  }
  const all = await list('?limit=100', ask);
  assert.is(all.length, 12);
  assert.equal(
    all.map(due),
    all.map(due).toSorted((a, b) => a - b),
  );
  for (const state of [undefined, 'open', 'due-soon', 'overdue', 'notified']) {
    for (const sourceId of [undefined, 'credit']) {
      const filters = [...(state ? [`state=${state}`] : []), ...(sourceId ? [`sourceId=${sourceId}`] : [])];
      const found: unknown[] = [];
      let cursor = '';
      do {
        const { body } = await node.get(`/v1/incidents?${[...filters, 'limit=2'].join('&')}${cursor}`, ask);
        found.push(...objectsOf(body, 'items').map(({ incidentId }) => incidentId));
        cursor = body.nextCursor === null ? '' : `&cursor=${String(body.nextCursor)}`;
      } while (cursor !== '');
      const expected = all.filter(
        (item) =>
          (state ?? item.notificationState) === item.notificationState && (sourceId ?? item.sourceId) === item.sourceId,
      );
      assert.equal(
        found,
        expected.map(({ incidentId }) => incidentId),
        filters.join(),
      );
    }
  }
});

test('a cursor of one state or source is refused under another, where what comes before it would be left out', async () => {
  const ask = await freshAccount();
  for (const sourceId of ['credit', 'triage', 'credit']) accepted(await post({ sourceId }, ask));
  const { body } = await node.get('/v1/incidents?state=open&sourceId=credit&limit=1', ask);
  const cursor = `cursor=${String(body.nextCursor)}`;
  assert.is((await list(`?state=open&sourceId=credit&${cursor}`, ask)).length, 1);
  for (const filters of [
    '',
    'sourceId=credit&',
    'state=open&',
    'state=open&sourceId=triage&',
    'state=overdue&sourceId=credit&',
  ]) {
    requireProblem(await node.get(`/v1/incidents?${filters}${cursor}`, ask), 'invalid-field', filters, 'cursor');
  }
});

test('a list shows the account alone, and a key that is bound to sources those alone', async () => {
  const ask = await freshAccount();
  accepted(await post({ sourceId: 'credit' }, ask));
  accepted(await post({}, ask));
  assert.equal(await list('', await freshAccount()), []);
  const { apiKey } = accepted(await node.post('/v1/keys', { name: 'k', preset: 'auditor', sources: ['credit'] }, ask));
  const bound = { key: String(apiKey) };
  assert.equal(
    (await list('', bound)).map(({ sourceId }) => sourceId),
    ['credit'],
  );
  requireProblem(
    await node.get('/v1/incidents?sourceId=triage', bound),
    'scope-forbidden',
    'another source',
    'sourceId',
  );
  for (const [query, field] of [
    ['state=late', 'state'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['cursor=xyz', 'cursor'],
    ['cursor=WyJhIl0', 'cursor'],
    ['page=2', 'page'],
  ] as const) {
    requireProblem(await node.get(`/v1/incidents?${query}`, ask), 'invalid-field', query, field);
  }
});

test.run();
