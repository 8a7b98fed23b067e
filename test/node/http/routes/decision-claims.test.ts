import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { PSEUDONYM_PATTERN } from '../../../../protocol/chain/asserted.ts';
import type { AttestationRecord, WrittenRecord } from '../../../../protocol/chain/record.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';
import { NOTHING } from './governance-bodies.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

/** Both channels by which an account records a decision of its own. */
const CHANNELS = ['/v1/attest', '/v1/tiered-attest'] as const;
const BATCH = '/v1/tiered-attest-batch';
const MODEL = { model_id: 'm', model_version: '2', third_party_model: true, system_id: 'sys' };
const META = { riskLevel: 'high', jurisdiction: ['DE'], serviceEventType: 'COMMUNICATION' };
const OCCURRED = '2026-01-02T03:04:05+01:00';
const SUBJECT = 'applicant 4711, born 1970';
let unique = 0;

function post(path: string, members: JsonObject): Promise<HttpAnswer> {
  return node.post(path, { sourceId: 'claims', data: { n: ++unique }, ...members });
}

async function written({ status, body, text }: HttpAnswer): Promise<WrittenRecord> {
  assert.is(status, 200, text);
  const found = await readRecord(node.context.store, recordId(String(body.attestationId)));
  assert.ok(found);
  return found;
}

async function recorded(path: string, members: JsonObject): Promise<AttestationRecord> {
  return (await written(await post(path, members))).record;
}

/** What became of each decision of one batch. */
async function batch(...decisions: readonly JsonObject[]): Promise<JsonObject[]> {
  const list: JsonObject[] = [];
  for (const members of decisions) list.push({ sourceId: 'claims', data: { n: ++unique }, ...members });
  const { status, body, text } = await node.post(BATCH, list);
  assert.is(status, 200, text);
  return Array.isArray(body.results) ? body.results.filter(isJsonObject) : [];
}

test('the same claims can be made on both channels', async () => {
  const members = { model_ref: MODEL, complianceMeta: META, environment: 'staging', confidenceScore: 0.5 };
  for (const path of CHANNELS) {
    const { claims } = await recorded(path, { ...members, occurredAt: OCCURRED, adverse: true });
    const { channel, dataHash: _, inputHash: __, ...said } = claims;
    assert.is(channel, path === '/v1/attest' ? 'direct' : 'tiered');
    assert.equal(said, {
      modelId: 'm',
      modelVersion: '2',
      thirdPartyModel: true,
      systemId: 'sys',
      riskLevel: 'high',
      jurisdiction: ['DE'],
      eventType: 'COMMUNICATION',
      environment: 'staging',
      confidenceScore: 0.5,
      asserted: { occurredAt: '2026-01-02T02:04:05.000Z', adverse: true },
    });
  }
});

test('a decision that uses none of it asserts nothing', async () => {
  for (const path of CHANNELS) {
    const { claims, links } = await recorded(path, {});
    assert.equal([claims.asserted, claims.environment, links], [undefined, undefined, {}]);
  }
});

test('what stands at the top and below it has to be the same', async () => {
  const same = { modelId: 'm', modelVersion: '2', riskLevel: 'high', model_ref: MODEL, complianceMeta: META };
  assert.is((await recorded('/v1/attest', same)).claims.modelId, 'm');
  const mixed = { modelVersion: '3', model_ref: { model_id: 'm' }, complianceMeta: {}, riskLevel: 'low' };
  const { modelId, modelVersion, riskLevel } = (await recorded('/v1/attest', mixed)).claims;
  assert.equal([modelId, modelVersion, riskLevel], ['m', '3', 'low']);
  for (const [change, field] of [
    [{ modelId: 'other' }, 'model_ref.model_id'],
    [{ modelVersion: '2.0' }, 'model_ref.model_version'],
    [{ riskLevel: 'low' }, 'complianceMeta.riskLevel'],
  ] as const) {
    requireProblem(await post('/v1/attest', { ...same, ...change }), 'invalid-field', field, field);
  }
  const malformed = await post('/v1/attest', { model_ref: { model_id: 'm', name: 'x' } });
  requireProblem(malformed, 'model-binding-invalid', 'malformed', 'model_ref.name');
});

test('an event that is still to come, or whose time is none, is refused', async () => {
  const soon = new Date(Date.now() + 6 * 60_000).toISOString();
  for (const path of CHANNELS) {
    requireProblem(await post(path, { occurredAt: soon }), 'time-in-future', path, 'occurredAt');
    requireProblem(await post(path, { occurredAt: '2026-11-21' }), 'invalid-field', path, 'occurredAt');
    requireProblem(await post(path, { adverse: 'yes' }), 'invalid-field', path, 'adverse');
    requireProblem(await post(path, { environment: 'prod' }), 'invalid-field', path, 'environment');
    requireProblem(await post(path, { confidenceScore: 2 }), 'invalid-field', path, 'confidenceScore');
    const slightly = new Date(Date.now() + 60_000).toISOString();
    assert.is((await recorded(path, { occurredAt: slightly })).claims.asserted?.occurredAt, slightly);
  }
  const [first, second, third] = await batch({ occurredAt: soon }, { occurredAt: 'x' }, { occurredAt: OCCURRED });
  assert.equal([first?.code, first?.field], ['time-in-future', 'occurredAt']);
  assert.equal([second?.code, second?.field], ['invalid-field', 'occurredAt']);
  assert.ok(third?.attestationId);
});

test('whom a decision is about is signed as a pseudonym: the same on both channels, and nobody is named', async () => {
  const pseudonyms = new Set<string | undefined>();
  const answers = await Promise.all(CHANNELS.map((path) => post(path, { subjectRef: SUBJECT, data: { n: ++unique } })));
  for (const answer of answers) {
    const { record, texts } = await written(answer);
    assert.not.match(texts.head + texts.body, /applicant|born/);
    assert.match(String(record.claims.asserted?.subject), new RegExp(PSEUDONYM_PATTERN));
    pseudonyms.add(record.claims.asserted?.subject);
  }
  const [inBatch] = await batch({ subjectRef: SUBJECT, adverse: true });
  const found = await readRecord(node.context.store, recordId(String(inBatch?.attestationId)));
  pseudonyms.add(found?.record.claims.asserted?.subject);
  assert.is(found?.record.claims.asserted?.adverse, true);
  assert.is(pseudonyms.size, 1);
  const elsewhere = await node.post(
    '/v1/attest',
    { sourceId: 'claims', data: { n: ++unique }, subjectRef: SUBJECT },
    { key: API_KEYS.enterprise },
  );
  pseudonyms.add((await written(elsewhere)).record.claims.asserted?.subject);
  assert.is(pseudonyms.size, 2, 'another account has another pseudonym');
});

test('data without a member shows nothing of an input, and says so', async () => {
  for (const path of CHANNELS) {
    const { claims } = await recorded(path, { sourceId: `empty ${path}`, data: {} });
    assert.equal(claims.asserted, { emptyData: true });
  }
});

test('records that a decision belongs to are linked, each once, and must be there', async () => {
  const first = await recorded('/v1/attest', {});
  const second = await recorded('/v1/tiered-attest', {});
  const relatedAttestationIds = [first.id, second.id, first.id];
  for (const path of CHANNELS) {
    assert.equal((await recorded(path, { relatedAttestationIds })).links.related, [first.id, second.id]);
    assert.equal((await recorded(path, { relatedAttestationIds: [] })).links, {});
    const missing = await post(path, { relatedAttestationIds: [first.id, NOTHING] });
    requireProblem(missing, 'attestation-not-found', path, 'relatedAttestationIds');
    assert.equal(missing.body.missing, [NOTHING]);
    const foreign = await node.post(
      path,
      { sourceId: 'claims', data: { n: ++unique }, relatedAttestationIds: [first.id] },
      { key: API_KEYS.enterprise },
    );
    requireProblem(foreign, 'attestation-not-found', path, 'relatedAttestationIds');
    const many = { relatedAttestationIds: Array.from({ length: 101 }, () => first.id) };
    requireProblem(await post(path, many), 'invalid-field', path, 'relatedAttestationIds');
  }
  const results = await batch({ relatedAttestationIds }, { relatedAttestationIds: [NOTHING] }, {});
  assert.equal(
    results.map(({ code, field }) => [code, field]),
    [
      [undefined, undefined],
      ['attestation-not-found', 'relatedAttestationIds'],
      [undefined, undefined],
    ],
  );
  const linked = await readRecord(node.context.store, recordId(String(results[0]?.attestationId)));
  assert.equal(linked?.record.links.related, [first.id, second.id]);
});

test('a batch looks for a hundred related records, and refuses decisions that name more', async () => {
  const named = Array.from({ length: 102 }, (_, i) => ({ relatedAttestationIds: [`att_eu_${i}`] }));
  const results = await batch(...named);
  const codes = results.map(({ code }) => code);
  assert.equal(new Set(codes.slice(0, 100)), new Set(['attestation-not-found']));
  assert.equal(codes.slice(100), ['invalid-field', 'invalid-field']);
});

test('that a clause does not apply is signed with its reason, its person and its review', async () => {
  const data = {
    framework: 'EU_AI_ACT',
    clause: '72',
    reason: 'the provider monitors',
    assertedBy: 'anna.schmidt@example',
    reviewDueAt: '2027-06-30',
  };
  const complianceMeta = { serviceEventType: 'NOT_APPLICABLE' };
  const pseudonyms = new Set<string | undefined>();
  for (const path of CHANNELS) {
    const answer = await post(path, { data: { ...data, n: ++unique }, complianceMeta });
    const { record, texts } = await written(answer);
    assert.equal(answer.body.warnings, []);
    const { assertedBy, ...asserted } = record.claims.asserted ?? {};
    assert.equal(asserted, { reasonGiven: true, reviewDueAt: '2027-06-30T00:00:00.000Z' });
    assert.match(String(assertedBy), new RegExp(PSEUDONYM_PATTERN));
    assert.equal([record.claims.framework, record.claims.clause], ['EU_AI_ACT', '72']);
    assert.not.match(texts.head + texts.body, /anna|schmidt|monitors/);
    pseudonyms.add(assertedBy);
  }
  const [inBatch] = await batch({ data, complianceMeta });
  const found = await readRecord(node.context.store, recordId(String(inBatch?.attestationId)));
  pseudonyms.add(found?.record.claims.asserted?.assertedBy);
  assert.is(pseudonyms.size, 1);
  const odd = await post('/v1/attest', { data: { ...data, reviewDueAt: 'later' }, complianceMeta });
  assert.match(String(odd.body.warnings), /^data\.reviewDueAt: is no RFC 3339 time/);
});

test('what was made in a test counts as such, whichever channel it came by', async () => {
  for (const path of CHANNELS) {
    const sourceId = `tried by ${path}`;
    await recorded(path, { sourceId, environment: 'test' });
    await recorded(path, { sourceId, environment: 'production', confidenceScore: 0.5 });
    const { body, text } = await node.get(`/v1/reports/gap?sourceId=${encodeURIComponent(sourceId)}`);
    assert.equal([body.records, body.excluded], [1, { test: 1, staging: 0 }], text.slice(0, 200));
  }
});

test('what was recorded so is whole', async () => {
  await node.stop();
  assert.equal((await fsck(node.config.home)).report.findings, []);
});

test.run();
