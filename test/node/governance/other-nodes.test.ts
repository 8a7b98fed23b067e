import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Draft } from '../../../node/intake/draft.ts';
import { readRecord } from '../../../node/records/record-reader.ts';
import { ACCOUNT_SOURCE } from '../../../protocol/accounts/statement.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { AUTHORITY_NOTIFICATION } from '../../../protocol/compliance/notification-clock.ts';
import { type RecordId, recordId } from '../../../protocol/ids.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { versionDraft } from '../../fixtures/account-statement.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { HttpAnswer, TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { requireProblem } from '../http/problem-shape.ts';
import { LEAST, objectsOf } from '../http/routes/governance-bodies.ts';
import { reviewer } from '../../protocol/evidence/case.ts';

/** At home at `eu`; `us` has its key too, and no statement names it until a test makes one. */
const ACCOUNT = 'acc_eu_unmetered';
const network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local' });
const eu = network.node('eu');
const us = network.node('us');
test.after(() => network[Symbol.asyncDispose]());

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

const idOf = ({ attestationId }: JsonObject): RecordId => recordId(String(attestationId));

type Said = Partial<Omit<Draft, 'claims'>> & { readonly claims?: Partial<Draft['claims']> };

/** What a member writes in the account's name, whatever its own rules say. */
async function written(node: TestNode, said: Said): Promise<AttestationRecord> {
  const draft: Draft = {
    kind: 'decision',
    account: ACCOUNT,
    sourceId: 'triage',
    payload: '{"data":{"output":"yes"}}',
    links: {},
    ...said,
    claims: { channel: 'direct', ...said.claims },
  };
  return (await node.context.intake.submit(draft)).record;
}

/** Sealed, and on the other node's disk with its decision. */
async function arrived(from: TestNode, { id }: AttestationRecord): Promise<void> {
  await from.seal();
  await until('every node has it confirmed', async () => {
    const seen = await Promise.all([eu, us].map((node) => node.get(`/v1/verify/${id}`)));
    return seen.every(({ body }) => body.status === 'confirmed');
  });
}

async function incidentOf(id: unknown): Promise<JsonObject | undefined> {
  return objectsOf(accepted(await eu.get('/v1/incidents')), 'items').find(({ incidentId }) => incidentId === id);
}

const reviewOf = (original: RecordId, letter: string): Said => ({
  kind: 'human_override',
  links: { original },
  claims: { reviewer: reviewer(letter), reviewOutcome: 'confirmed' },
});
const notificationOf = (of: RecordId): Said => ({
  links: { incident: of },
  claims: { eventType: AUTHORITY_NOTIFICATION },
});
const correctionOf = (supersedes: RecordId): Said => ({
  kind: 'incident',
  links: { supersedes },
  claims: { severity: 'serious' },
});

const start = accepted(await eu.post('/v1/session/start', LEAST['/v1/session/start']));
const decision = recordId(await eu.attest({ n: 1 }, { sourceId: 'triage' }));
const incident = accepted(await eu.post('/v1/incident', LEAST['/v1/incident']));
const lock = accepted(
  await eu.post('/v1/retention-lock', { ...LEAST['/v1/retention-lock'], legalHold: true, lockedBy: 'one' }),
);

test('what a node that no statement names writes in the account’s name moves nothing of its governance', async () => {
  await until('the decision is there', async () => (await readRecord(eu.context.store, decision)) !== undefined);
  const forged = [
    await written(us, { kind: 'session_end', links: { session: idOf(start) } }),
    await written(us, { kind: 'retention_lock', sourceId: 'locked', links: { lock: idOf(lock) } }),
    await written(us, reviewOf(decision, 'f')),
    await written(us, notificationOf(idOf(incident))),
    await written(us, correctionOf(idOf(incident))),
  ];
  const last = forged.at(-1);
  if (last === undefined) throw new Error('there are some');
  await arrived(us, last);

  const request = { originalAttestationId: decision, reviewerId: 'anna', sourceId: 'triage' };
  const review = accepted(await eu.post('/v1/human-override', request));
  assert.equal([review.reviewCount, review.distinctReviewers], [1, 1]);
  const tracked = await incidentOf(incident.incidentId);
  assert.is.not(tracked?.notificationState, 'notified');
  assert.equal([tracked?.notificationAttestationId, tracked?.supersededBy], [null, null]);
  const supersedes = objectId('incident', last.id);
  const correction = await eu.post('/v1/incident', { ...LEAST['/v1/incident'], supersedes });
  requireProblem(correction, 'incident-not-found', 'a forged incident', 'supersedes');

  const ended = await eu.post('/v1/session/end', { sourceId: 'triage', sessionId: String(start.sessionId) });
  assert.is(ended.status, 200, ended.text);
  const retention = accepted(await eu.get('/v1/retention?sourceId=locked'));
  const [held] = objectsOf(retention, 'locks');
  assert.equal([held?.legalHold, held?.releaseAttestationId], ['active', null]);
  const second = String(accepted(await eu.post('/v1/keys', { name: 'second', preset: 'compliance' })).apiKey);
  const releasing = { lockId: String(lock.lockId), releasedBy: 'two' };
  const release = await eu.post('/v1/retention-lock/release', releasing, { key: second });
  assert.is(release.status, 200, release.text);
});

test('once the account’s statement names the node, what it writes from then on counts', async () => {
  await arrived(eu, await written(eu, { ...versionDraft(1, ['eu', 'us'], ACCOUNT), sourceId: ACCOUNT_SOURCE }));
  await written(us, reviewOf(decision, 'b'));
  const notification = await written(us, notificationOf(idOf(incident)));
  const correction = await written(us, correctionOf(idOf(incident)));
  await arrived(us, correction);
  const tracked = await incidentOf(incident.incidentId);
  assert.equal([tracked?.notificationState, tracked?.notificationAttestationId], ['notified', notification.id]);
  assert.is(tracked?.supersededBy, objectId('incident', correction.id));
  const request = { originalAttestationId: decision, reviewerId: 'bert', sourceId: 'triage' };
  // Anna and Bert here, and one at the other node, who may be either of them; the forged one is none.
  const review = accepted(await eu.post('/v1/human-override', request));
  assert.equal([review.reviewCount, review.distinctReviewers], [3, 2]);
});

test.run();
