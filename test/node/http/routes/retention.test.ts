import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { HoldReleaseAnswerShape, RetentionLockAnswerShape } from '../../../../protocol/api/retention-lock.ts';
import { RetentionAnswerShape } from '../../../../protocol/api/retention.ts';
import { recordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type Ask, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';
import { ENVELOPE, LEAST, NOTHING, objectsOf } from './governance-bodies.ts';

const DAY_MS = 86_400_000;
const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

let sources = 0;

/** A source without locks. */
function freshSource(): string {
  return `source-${++sources}`;
}

function lock(sourceId: string, members: JsonObject = {}, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post('/v1/retention-lock', { ...LEAST['/v1/retention-lock'], sourceId, ...members }, ask);
}

function release(lockId: unknown, releasedBy: string, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post('/v1/retention-lock/release', { lockId: String(lockId), releasedBy }, ask);
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

/** Another API key of the account. */
async function secondKey(): Promise<Ask> {
  return { key: String(accepted(await node.post('/v1/keys', { name: 'second', preset: 'compliance' })).apiKey) };
}

async function retentionOf(
  sourceId: string,
): Promise<{ locks: readonly JsonObject[]; kinds: Map<string, JsonObject> }> {
  const body = accepted(await node.get(`/v1/retention?sourceId=${sourceId}`));
  shapeCheck(RetentionAnswerShape)(body);
  const kinds = objectsOf(body, 'effective').map((effective) => [String(effective.recordKind), effective] as const);
  return { locks: objectsOf(body, 'locks'), kinds: new Map(kinds) };
}

const end = (lockedAt: unknown, days: number): string =>
  new Date(Date.parse(String(lockedAt)) + days * DAY_MS).toISOString();

test('a lock is answered with exactly its fields', async () => {
  const sourceId = freshSource();
  const members = { scope: ['decisions', 'incidents'], retentionPeriodDays: 2192, regulatoryBasis: 'SEC 17a-4(a)' };
  const body = accepted(await lock(sourceId, { ...members, lockedBy: 'officer' }));
  shapeCheck(RetentionLockAnswerShape)(body);
  const answer =
    'lockId sourceId scope retentionPeriodDays lockedAt expiresAt appliesTo perRecordExpiry statutoryMinimumDays';
  const references = ['articles', 'relatedArticles', 'effectiveUntil'];
  assert.equal(Object.keys(body).toSorted(), [...ENVELOPE, ...answer.split(' '), ...references].toSorted());
  assert.equal([body.sourceId, body.scope, body.retentionPeriodDays], [sourceId, members.scope, 2192]);
  assert.equal([body.lockedAt, body.expiresAt], [body.submittedAt, end(body.submittedAt, 2192)]);
  assert.equal([body.articles, body.relatedArticles], [['26(5)'], ['26(6)', '19(1)', '18(1)']]);
  assert.equal(body.statutoryMinimumDays, { 'SEC 17a-4(a)': 2192 });
  assert.equal([body.effectiveUntil, body.warnings], [body.expiresAt, []]);
  const record = (await readRecord(node.context.store, recordId(String(body.attestationId))))?.record;
  assert.equal([record?.claims.retentionDays, record?.claims.scope], [2192, members.scope]);
});

test('a period below the floor is refused with a code of its own, a short one for its basis with a warning', async () => {
  for (const retentionPeriodDays of [1824, 0, -5]) {
    const answer = await lock(freshSource(), { retentionPeriodDays });
    requireProblem(answer, 'retention-below-minimum', `${retentionPeriodDays} days`, 'retentionPeriodDays');
  }
  const { warnings } = accepted(await lock(freshSource(), { regulatoryBasis: 'MiFID II', retentionPeriodDays: 1825 }));
  assert.match(String(warnings), /^shorter-than-calendar-years: 1825 days are less than the 5 calendar years/);
  assert.is(accepted(await lock(freshSource())).statutoryMinimumDays, null);
});

test('locks that overlap extend each other, and never shorten', async () => {
  const sourceId = freshSource();
  const long = accepted(await lock(sourceId, { scope: ['decisions', 'sessions'], retentionPeriodDays: 4000 }));
  const short = accepted(await lock(sourceId, { scope: 'decisions' }));
  assert.is(short.effectiveUntil, long.expiresAt);
  const apart = accepted(await lock(sourceId, { scope: 'incidents' }));
  assert.is(apart.effectiveUntil, apart.expiresAt);
  const all = accepted(await lock(sourceId, { scope: 'all', retentionPeriodDays: 2000 }));
  assert.is(all.effectiveUntil, long.expiresAt);
  assert.is(accepted(await lock(sourceId, { scope: 'oversight' })).effectiveUntil, all.expiresAt);
  assert.is.not(accepted(await lock(freshSource(), { scope: 'decisions' })).effectiveUntil, long.expiresAt);
  const { locks, kinds } = await retentionOf(sourceId);
  assert.equal(locks.map(({ lockId }) => lockId).slice(0, 2), [long.lockId, short.lockId]);
  assert.is(locks.length, 5);
  assert.equal(kinds.get('decision'), {
    recordKind: 'decision',
    effectiveUntil: long.expiresAt,
    retentionPeriodDays: 4000,
    legalHold: false,
  });
  assert.is(kinds.get('incident')?.retentionPeriodDays, 2000);
  assert.is(kinds.get('agent_registration')?.effectiveUntil, all.expiresAt);
});

test('a source without locks keeps nothing, and lists are paged', async () => {
  const sourceId = freshSource();
  assert.equal(await retentionOf(sourceId), { locks: [], kinds: new Map() });
  const made: unknown[] = [];
  for (let n = 0; n < 103; n++) made.push(accepted(await lock(sourceId, { scope: 'decisions' })).lockId);
  const first = accepted(await node.get(`/v1/retention?sourceId=${sourceId}`));
  const second = accepted(await node.get(`/v1/retention?sourceId=${sourceId}&cursor=${String(first.nextCursor)}`));
  const ids = [first, second].flatMap((page) => objectsOf(page, 'locks').map(({ lockId }) => lockId));
  assert.equal(ids, made);
  assert.is(second.nextCursor, null);
  requireProblem(await node.get('/v1/retention'), 'missing-field', 'no source', 'sourceId');
  for (const cursor of ['x', String(first.nextCursor)]) {
    const answer = await node.get(`/v1/retention?sourceId=x&cursor=${cursor}`);
    requireProblem(answer, 'invalid-field', 'no cursor of this source', 'cursor');
  }
});

test('a legal hold has no end until a second person releases it by another key', async () => {
  const sourceId = freshSource();
  const second = await secondKey();
  const nobody = await lock(sourceId, { legalHold: true });
  requireProblem(nobody, 'missing-field', 'a hold by nobody', 'lockedBy');
  const body = accepted(await lock(sourceId, { scope: 'decisions', legalHold: true, lockedBy: 'Anna' }));
  assert.equal([body.expiresAt, body.effectiveUntil], [null, null]);
  const held = await retentionOf(sourceId);
  assert.equal([held.locks[0]?.legalHold, held.locks[0]?.expiresAt], ['active', null]);
  assert.equal([held.kinds.get('decision')?.effectiveUntil, held.kinds.get('decision')?.legalHold], [null, true]);

  requireProblem(await release(body.lockId, 'Anna', second), 'same-person', 'the same person', 'releasedBy');
  requireProblem(await release(body.lockId, 'Bert'), 'same-person', 'the same key', 'x-api-key');
  const foreign = { key: API_KEYS.enterprise };
  requireProblem(await release(body.lockId, 'Bert', foreign), 'lock-not-found', 'another account', 'lockId');
  const nothing = NOTHING.replace('att', 'rtl');
  requireProblem(await release(nothing, 'Bert', second), 'lock-not-found', 'no lock', 'lockId');

  const released = accepted(await release(body.lockId, 'Bert', second));
  shapeCheck(HoldReleaseAnswerShape)(released);
  const members = ['lockId', 'releasedAt', 'expiresAt', 'effectiveUntil'];
  assert.equal(Object.keys(released).toSorted(), [...ENVELOPE, ...members].toSorted());
  assert.equal([released.releasedAt, released.expiresAt], [released.submittedAt, end(body.lockedAt, 1825)]);
  assert.is(released.effectiveUntil, released.expiresAt);
  requireProblem(await release(body.lockId, 'Carl', second), 'hold-not-active', 'again', 'lockId');
  const after = await retentionOf(sourceId);
  assert.equal(
    [after.locks[0]?.legalHold, after.locks[0]?.releaseAttestationId, after.locks[0]?.expiresAt],
    ['released', released.attestationId, released.expiresAt],
  );
  assert.is(after.kinds.get('decision')?.legalHold, false);
});

test('of several holds each must be released, and of many releases of one one is accepted', async () => {
  const sourceId = freshSource();
  const second = await secondKey();
  const hold = (scope: string) => lock(sourceId, { scope, legalHold: true, lockedBy: 'Anna' });
  const first = accepted(await hold('all'));
  const other = accepted(await hold('decisions'));
  const answers = await Promise.all(['Bert', 'Carl', 'Dora'].map((name) => release(first.lockId, name, second)));
  const released = answers.filter(({ status }) => status === 200);
  assert.is(released.length, 1);
  assert.is(released[0]?.body.effectiveUntil, null);
  for (const { status, body } of answers) if (status !== 200) assert.is(body.code, 'hold-not-active');
  const { kinds } = await retentionOf(sourceId);
  assert.equal([kinds.get('decision')?.legalHold, kinds.get('incident')?.legalHold], [true, false]);
  assert.is.not(accepted(await release(other.lockId, 'Bert', second)).effectiveUntil, null);
  const plain = accepted(await lock(sourceId));
  requireProblem(await release(plain.lockId, 'Bert', second), 'hold-not-active', 'a lock without hold', 'lockId');
});

test('documents, and records of one event, are under locks of their own', async () => {
  const sourceId = freshSource();
  const second = await secondKey();
  const documents = accepted(await lock(sourceId, { scope: 'documents', retentionPeriodDays: 3653 }));
  shapeCheck(RetentionLockAnswerShape)(documents);
  const event = accepted(
    await lock(sourceId, { scope: ['event:TECH_DOC', 'event:QMS'], legalHold: true, lockedBy: 'Anna' }),
  );
  assert.is(event.effectiveUntil, null);
  const decisions = accepted(await lock(sourceId, { scope: 'event:DECISION', retentionPeriodDays: 2000 }));
  assert.is(decisions.effectiveUntil, decisions.expiresAt, 'documents are of other events');
  const sessions = accepted(await lock(sourceId, { scope: 'sessions' }));
  assert.is(sessions.effectiveUntil, sessions.expiresAt);
  assert.is(accepted(await lock(sourceId, { scope: 'event:OTHER' })).effectiveUntil, documents.expiresAt);
  for (const scope of ['documents', 'decisions', 'all']) {
    assert.is(accepted(await lock(sourceId, { scope })).effectiveUntil, null, `${scope} overlaps what is held`);
  }

  const body = accepted(await node.get(`/v1/retention?sourceId=${sourceId}`));
  shapeCheck(RetentionAnswerShape)(body);
  const byEvent = new Map(objectsOf(body, 'effectiveByEvent').map((each) => [each.event, each]));
  assert.equal([...byEvent.keys()], ['*', 'DECISION', 'OTHER', 'QMS', 'TECH_DOC']);
  const days = [...byEvent.values()].map((each) => [each.retentionPeriodDays, each.legalHold]);
  assert.equal(days, [
    [3653, false],
    [2000, false],
    [3653, false],
    [3653, true],
    [3653, true],
  ]);
  const kinds = new Map(objectsOf(body, 'effective').map((each) => [each.recordKind, each.retentionPeriodDays]));
  assert.equal([kinds.get('decision'), kinds.get('document'), kinds.get('notice')], [1825, 3653, 1825]);

  const released = accepted(await release(event.lockId, 'Bert', second));
  assert.is.not(released.effectiveUntil, null);
  const after = accepted(await node.get(`/v1/retention?sourceId=${sourceId}`));
  assert.ok(objectsOf(after, 'effectiveByEvent').every(({ legalHold }) => legalHold === false));
});

test('a source whose locks name kinds alone is answered as ever', async () => {
  const sourceId = freshSource();
  accepted(await lock(sourceId, { scope: 'decisions' }));
  const body = accepted(await node.get(`/v1/retention?sourceId=${sourceId}`));
  assert.equal(Object.keys(body).toSorted(), ['effective', 'locks', 'nextCursor', 'sourceId', 'success']);
  const [placed] = objectsOf(body, 'locks');
  assert.not.ok('startsAt' in (placed ?? {}));
});

test('a period runs from where its caller says, signed, and ends no sooner than the floor', async () => {
  const sourceId = freshSource();
  const entry = new Date(Date.now() + 400 * DAY_MS).toISOString().slice(0, 10);
  const ten = { scope: 'documents', retentionPeriodDays: 3653, regulatoryBasis: 'EU AI Act Article 18(1)' };
  const ahead = accepted(await lock(sourceId, { ...ten, startsAt: entry }));
  shapeCheck(RetentionLockAnswerShape)(ahead);
  assert.is(ahead.startsAt, `${entry}T23:59:59.999Z`, 'the last moment of the day');
  assert.equal([ahead.expiresAt, ahead.warnings], [end(ahead.startsAt, 3653), []]);
  const record = (await readRecord(node.context.store, recordId(String(ahead.attestationId))))?.record;
  assert.equal(record?.claims.asserted, { startsAt: ahead.startsAt });

  const past = accepted(await lock(freshSource(), { ...ten, startsAt: '2019-03-01T12:00:00+01:00' }));
  assert.is(past.startsAt, '2019-03-01T11:00:00.000Z');
  assert.is(past.expiresAt, end(past.lockedAt, 1825), 'no sooner than 1,825 days from now');
  assert.match(String(past.warnings), /^longer-than-named-basis: \d{4} days/);

  const { locks } = await retentionOf(sourceId);
  assert.equal([locks[0]?.startsAt, locks[0]?.expiresAt], [ahead.startsAt, ahead.expiresAt]);
  const shorter = accepted(await lock(sourceId, { ...ten, startsAt: '2020-01-01' }));
  assert.is(shorter.effectiveUntil, ahead.expiresAt, 'never shortened');
  const far = new Date(Date.now() + 3655 * DAY_MS).toISOString();
  requireProblem(await lock(sourceId, { ...ten, startsAt: far }), 'invalid-field', 'eleven years ahead', 'startsAt');
});

test('a lock without a basis, and one longer than its basis, are pointed out, also when asked for again', async () => {
  const sourceId = freshSource();
  const warned = async (members: JsonObject) => String(accepted(await lock(freshSource(), members)).warnings);
  assert.match(await warned({}), /^no-basis-given: /);
  assert.match(await warned({ regulatoryBasis: 'EU AI Act Article 26(6)' }), /^longer-than-named-basis: 1825 days/);
  assert.is(await warned({ regulatoryBasis: 'our own policy' }), '');
  const ask = { headers: { 'idempotency-key': 'warned' } };
  const first = accepted(await lock(sourceId, { unknown: 1 }, ask));
  assert.equal(accepted(await lock(sourceId, { unknown: 1 }, ask)), first);
  assert.is(String(first.warnings).split('no-basis-given').length, 2);
});

test('the basis that is named for a state’s law is not that of the EU', async () => {
  const { statutoryMinimumDays } = accepted(await lock(freshSource(), { regulatoryBasis: 'Colorado AI Act' }));
  assert.equal(statutoryMinimumDays, { 'Colorado SB 26-189': 1096 });
});

test('who placed a hold is on the disk under a pseudonym alone', async () => {
  await lock(freshSource(), { legalHold: true, lockedBy: 'Wilhelmina' });
  for await (const [key, value] of node.context.store.range({})) {
    assert.not.match(key + Buffer.from(value).toString('latin1'), /Wilhelmina/);
  }
});

test('the stores are whole', async () => {
  for (const each of [node]) {
    await each.stop();
    assert.equal((await fsck(each.config.home)).report.findings, []);
  }
});

test.run();
