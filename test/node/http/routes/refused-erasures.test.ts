import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { IntakeError } from '../../../../node/intake/intake-error.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { Ask, HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';
import { LEAST, objectsOf } from './governance-bodies.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const WHY = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };
let unique = 0;

function attest(members: JsonObject = {}): Promise<string> {
  return node.attest({ n: ++unique }, { sourceId: 'triage', ...members });
}

function erase(members: JsonObject, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post('/v1/erasures', { ...WHY, ...members }, ask);
}

function lock(sourceId: string, members: JsonObject = {}): Promise<HttpAnswer> {
  return node.post('/v1/retention-lock', { ...LEAST['/v1/retention-lock'], sourceId, ...members });
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function recordOf(id: unknown): Promise<AttestationRecord> {
  const found = await readRecord(node.context.store, recordId(String(id)));
  assert.ok(found);
  return found.record;
}

async function payloadState(id: string): Promise<unknown> {
  return (await node.get(`/v1/verify/${id}`)).body.payloadState;
}

/** Whether anything of the store says that this record was erased. */
async function isSaidErased(id: string): Promise<boolean> {
  for await (const [key] of node.context.store.range({ gte: `link/${id}/erased`, lt: `link/${id}/erased0` })) {
    return key !== '';
  }
  return false;
}

test('a refused erasure is a record of a request, and nothing says that anything was erased', async () => {
  const sourceId = 'refused';
  const [one, two] = [await attest({ sourceId }), await attest()];
  accepted(await lock(sourceId));
  const answer = await erase({ attestationIds: [two, one] });
  requireProblem(answer, 'retention-locked', 'locked', 'attestationIds');
  const record = await recordOf(answer.body.attestationId);
  const { kind, claims, links } = record;
  assert.equal(
    [kind, record.sourceId, links],
    ['request', 'erasures', { related: [one, two] }],
    'those in the way first',
  );
  const { receivedAt, ...asserted } = claims.asserted ?? {};
  assert.equal(asserted, { requestType: 'erasure', outcome: 'refused' });
  assert.ok(Math.abs(Date.parse(String(receivedAt)) - Date.parse(record.submittedAt)) < 5000);
  const { body: bundle } = await node.get(`/v1/bundles/${record.id}?disclosure=1&partial=1`);
  const disclosure = bundle.disclosure ?? null;
  assert.ok(isJsonObject(disclosure));
  assert.equal(disclosure.payload, { ...WHY, attestationIds: [two, one] });
  for (const id of [one, two]) {
    assert.is(await payloadState(id), 'available');
    assert.is(await isSaidErased(id), false);
  }
  await node.seal();
  assert.is((await node.get(`/v1/verify/${record.id}`)).body.sigValid, true);
  const again = await erase({ attestationIds: [two, one] });
  assert.is.not(again.body.attestationId, record.id, 'asked anew, it is another request');
});

test('a refused erasure of a person names the person to nobody', async () => {
  const sourceId = 'refused-person';
  const subjectRef = 'Berta Muster';
  const ids = [];
  for (let n = 0; n < 102; n++) ids.push(await attest({ sourceId, subjectRef }));
  accepted(await lock(sourceId, { scope: 'decisions' }));
  const { status, body } = await erase({ subjectRef });
  assert.is(status, 409);
  const { claims, links } = await recordOf(body.attestationId);
  assert.equal(links.related, ids.slice(0, 100));
  const { subject } = claims.asserted ?? {};
  assert.match(String(subject), /^hmac-sha256:[0-9a-f]{64}$/);
  const { text } = await node.get(`/v1/bundles/${String(body.attestationId)}?disclosure=1&partial=1`);
  assert.not.match(text, /Berta/);
  assert.match(text, new RegExp(`"subjectRef":"${String(subject)}"`));
});

test('a refusal is recorded once for an idempotency key, and answered alike', async () => {
  const sourceId = 'refused-once';
  const id = await attest({ sourceId });
  accepted(await lock(sourceId, { legalHold: true, lockedBy: 'Anna' }));
  const ask = { headers: { 'idempotency-key': 'refused once' } };
  const answers = await Promise.all([1, 2, 3].map(() => erase({ attestationIds: [id] }, ask)));
  answers.push(await erase({ attestationIds: [id] }, ask));
  const [first, ...others] = answers.map(({ status, body }): { status: number; body: JsonObject } => ({
    status,
    body: { ...body, requestId: null },
  }));
  assert.is(first?.status, 409);
  assert.ok(String(first?.body.attestationId).startsWith('att_'));
  for (const other of others) assert.equal(other, first);
  const other = await erase({ attestationIds: [id], surprise: 1 }, ask);
  requireProblem(other, 'idempotency-conflict', 'another body');
});

test('a node that takes no records refuses an erasure all the same, and says that this is not recorded', async () => {
  const sourceId = 'refused-full';
  const id = await attest({ sourceId });
  accepted(await lock(sourceId));
  const { intake, storageGuard } = node.context;
  const { recorded } = intake;
  const faults: readonly (() => () => void)[] = [
    () => {
      storageGuard.requireCapacity = () => {
        throw new LimitError('storage-full', 'full', {});
      };
      return () => void Reflect.deleteProperty(storageGuard, 'requireCapacity');
    },
    () => {
      intake.submit = () => Promise.reject(new IntakeError('queue-full', 'full'));
      return () => void Reflect.deleteProperty(intake, 'submit');
    },
    () => {
      intake.submit = () => Promise.reject(new IntakeError('store-failed', 'the disk is full'));
      return () => void Reflect.deleteProperty(intake, 'submit');
    },
  ];
  for (const fail of faults) {
    const mend = fail();
    const ask = { headers: { 'idempotency-key': 'refused full' } };
    const answer = await erase({ attestationIds: [id] }, ask);
    mend();
    requireProblem(answer, 'retention-locked', 'full', 'attestationIds');
    assert.is(answer.body.attestationId, null);
    assert.is(objectsOf(answer.body, 'locks').length, 1);
    assert.match(String(answer.body.detail), /this refusal could not be recorded$/);
  }
  assert.is(intake.recorded, recorded);
  const ask = { headers: { 'idempotency-key': 'refused full' } };
  const { body } = await erase({ attestationIds: [id] }, ask);
  assert.is((await recordOf(body.attestationId)).kind, 'request', 'once there is room it is recorded');
});

test('a lock over documents or one event keeps those records alone from being erased', async () => {
  const sourceId = 'events';
  const event = async (serviceEventType: string) => {
    const request = { sourceId, data: { n: ++unique }, complianceMeta: { serviceEventType } };
    return String(accepted(await node.post('/v1/tiered-attest', request)).attestationId);
  };
  const [decision, doc, order] = [await attest({ sourceId }), await event('TECH_DOC'), await event('ORDER_EVENT')];
  const byEvent = accepted(await lock(sourceId, { scope: 'event:TECH_DOC' }));
  const refused = await erase({ attestationIds: [decision, doc, order] });
  const [named, ...more] = objectsOf(refused.body, 'locks');
  assert.equal([named?.attestationId, named?.lockId, more], [doc, byEvent.lockId, []]);
  accepted(await erase({ attestationIds: [order] }));
  const another = await event('ORDER_EVENT');
  accepted(await lock(sourceId, { scope: 'documents' }));
  const both = objectsOf((await erase({ attestationIds: [decision, doc, another] })).body, 'locks');
  assert.equal([...new Set(both.map(({ attestationId }) => attestationId))], [doc, another]);
  accepted(await erase({ attestationIds: [decision] }));
});

test('the store is whole, and nothing of it was erased but what was answered so', async () => {
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(report.findings, []);
  assert.is(report.counts.payloadsErased, 2);
});

test.run();
