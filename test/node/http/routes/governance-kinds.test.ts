import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { PSEUDONYM_PATTERN } from '../../../../protocol/chain/asserted.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { DECLARATIONS } from '../../../../protocol/governance/declarations.ts';
import { governanceAnswerShape, governanceListShape } from '../../../../protocol/governance/listing.ts';
import { recordId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';
import { objectsOf } from './governance-bodies.ts';

const network = await TestNetwork.start({ nodes: ['eu'] });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

const PSEUDONYM = new RegExp(PSEUDONYM_PATTERN);
const FUTURE = new Date(Date.now() + 3_600_000).toISOString();
const KINDS = Object.values(DECLARATIONS);
let unique = 0;

/** Of each kind, the few members that its endpoint asks for. */
const LEAST = {
  system: { systemRef: 'scoring', role: 'deployer', intendedPurpose: 'scores applications' },
  document: { docType: 'technical-documentation', docVersion: '1', sha256: '9f'.repeat(32) },
  notification: { to: 'authority', reportType: 'initial', sentAt: '2026-01-02T00:00:00Z' },
  notice: { noticeType: 'adverse-action', givenAt: '2026-01-02', subjectRef: 'person-1' },
  request: { requestType: 'explanation', subjectRef: 'person-1', receivedAt: '2026-01-02' },
  evaluation: { evalType: 'bias-audit', performedAt: '2026-01-02', outcome: 'pass' },
  assignment: { person: 'staff-1', capacity: 'human-oversight', from: '2026-01-02' },
  dataset: { datasetRef: 'd', version: '1', use: 'train' },
  supplier: { supplier: 'Vendor', component: 'model' },
  conformity: { procedure: 'annex-vi', outcome: 'conforming' },
} as const satisfies Readonly<Record<keyof typeof DECLARATIONS, JsonObject>>;
type Kind = keyof typeof LEAST;

function post(kind: Kind, members: JsonObject = {}, ask = {}): Promise<HttpAnswer> {
  return node.post(DECLARATIONS[kind].path, { ...LEAST[kind], ...members }, ask);
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function recordOf({ attestationId }: JsonObject): Promise<AttestationRecord> {
  const found = await readRecord(node.context.store, recordId(String(attestationId)));
  assert.ok(found);
  return found.record;
}

async function list(kind: Kind, query = ''): Promise<JsonObject> {
  const body = accepted(await node.get(`${DECLARATIONS[kind].listPath}${query}`));
  shapeCheck(governanceListShape(DECLARATIONS[kind]))(body);
  return body;
}

for (const declaration of KINDS) {
  const { kind, idMember, object, required, example } = declaration;

  test(`a ${kind} is recorded with what it asserts, and is listed`, async () => {
    const body = accepted(await post(kind, { sourceId: `of-${kind}` }));
    shapeCheck(governanceAnswerShape(declaration))(body);
    const record = await recordOf(body);
    assert.is(record.kind, kind);
    assert.is(record.sourceId, `of-${kind}`);
    assert.equal(record.claims.given, ['sourceId', ...Object.keys(LEAST[kind])].toSorted());
    assert.is(String(body[idMember]).slice(3), record.id.slice(3));
    const [item] = objectsOf(await list(kind, `?sourceId=of-${kind}`), 'items');
    assert.is(item?.[idMember], body[idMember]);
    assert.equal(item?.facts, body.facts);
    assert.ok(object.length > 0);
  });

  test(`a ${kind} without a member that it cannot do without is refused by its name`, async () => {
    for (const member of required) {
      const { [member]: _left, ...rest }: JsonObject = { ...LEAST[kind] };
      const answer = await node.post(declaration.path, rest);
      requireProblem(answer, 'missing-field', member, member);
    }
  });

  test(`the documented example of a ${kind} is accepted, without what it names`, async () => {
    const { decisionId: _decision, incidentId: _incident, ...rest } = example;
    const body = accepted(await node.post(declaration.path, rest));
    assert.equal(Object.keys(Object(body.facts)).toSorted(), Object.keys(declaration.exampleFacts).toSorted());
  });

  test(`a ${kind} that another one supersedes is no longer current`, async () => {
    const sourceId = `again-${kind}`;
    const first = accepted(await post(kind, { sourceId, ...(kind === 'system' ? { systemRef: 'again' } : {}) }));
    const second = accepted(
      await post(kind, {
        sourceId,
        supersedes: String(first[idMember]),
        ...(kind === 'system' ? { systemRef: 'again' } : {}),
      }),
    );
    assert.is(second.supersedes, first[idMember]);
    const [newest, oldest] = objectsOf(await list(kind, `?sourceId=${sourceId}`), 'items');
    assert.equal([newest?.supersededBy, oldest?.supersededBy], [null, second[idMember]]);
    const current = objectsOf(await list(kind, `?sourceId=${sourceId}&current=true`), 'items');
    assert.equal(
      current.map((item) => item[idMember]),
      [second[idMember]],
    );
    const other = await post(kind, { supersedes: await node.attest({ n: ++unique }) });
    requireProblem(other, 'attestation-not-found', 'a record of another kind', 'supersedes');
  });
}

test('records of governance that name no source are of one source of their own', async () => {
  const body = accepted(await post('supplier'));
  assert.is(body.sourceId, 'governance');
  assert.is((await recordOf(body)).sourceId, 'governance');
});

test('persons stand under pseudonyms, and free text is not signed in clear', async () => {
  const body = accepted(await post('assignment', { person: 'Ada L.', competence: 'a long story' }));
  const record = await recordOf(body);
  assert.match(String(record.claims.asserted?.person), PSEUDONYM);
  assert.not.match(JSON.stringify(record), /Ada|story/);
  assert.ok(record.claims.given?.includes('competence'));
  const again = accepted(await post('assignment', { person: 'Ada L.' }));
  assert.is(Object(again.facts).person, record.claims.asserted?.person);
  const notice = accepted(await post('notice', { subjectRef: 'Ada L.' }));
  assert.match(String(Object(notice.facts).subject), PSEUDONYM);
  assert.is.not(Object(notice.facts).subject, record.claims.asserted?.person, 'one word for persons, one for subjects');
});

test('a notice names a decision or a person', async () => {
  const { subjectRef: _none, ...bare } = LEAST.notice;
  requireProblem(await node.post('/v1/notice', bare), 'missing-field', 'neither', 'decisionId');
  const decision = await node.attest({ n: ++unique });
  const body = accepted(await node.post('/v1/notice', { ...bare, decisionId: decision }));
  assert.is(body.decisionId, decision);
  assert.is((await recordOf(body)).links.decision, decision);
});

test('a notification is linked to its incident', async () => {
  const incident = accepted(
    await node.post('/v1/incident', {
      sourceId: 'triage',
      severity: 'serious',
      description: 'd',
      incidentPeriodStart: '2026-01-01T00:00:00Z',
    }),
  );
  const body = accepted(await post('notification', { incidentId: String(incident.incidentId) }));
  assert.is(body.incidentId, incident.incidentId);
  assert.is((await recordOf(body)).links.incident, incident.attestationId);
  const none = await post('notification', { incidentId: 'inc_nothing' });
  requireProblem(none, 'incident-not-found', 'no incident', 'incidentId');
});

test('times are read, kept apart and compared', async () => {
  const future = await post('evaluation', { performedAt: FUTURE });
  requireProblem(future, 'time-in-future', 'still to come', 'performedAt');
  const order = await post('request', { receivedAt: '2026-01-02', closedAt: '2026-01-01' });
  requireProblem(order, 'time-order', 'closed before it came', 'closedAt');
  requireProblem(await post('document', { validFrom: 'soon' }), 'invalid-field', 'no time', 'validFrom');
  const body = accepted(await post('document', { validFrom: '2026-03-01', validUntil: '2036-03-01T00:00:00+01:00' }));
  const { validFrom, validUntil } = Object(body.facts);
  assert.equal([validFrom, validUntil], ['2026-03-01T00:00:00.000Z', '2036-02-29T23:00:00.000Z']);
});

test('a hash is signed with its prefix, whichever way it is given', async () => {
  const plain = accepted(await post('document'));
  const prefixed = accepted(await post('document', { sha256: `sha256:${'9f'.repeat(32)}` }));
  assert.is(Object(plain.facts).sha256, `sha256:${'9f'.repeat(32)}`);
  assert.equal(plain.facts, prefixed.facts);
  requireProblem(await post('document', { sha256: 'none' }), 'invalid-field', 'no hash', 'sha256');
});

test('a further entry of a system supersedes the one before by itself, also where many come at once', async () => {
  const entry = () => post('system', { systemRef: 'at-once' });
  const entries = (await Promise.all([entry(), entry(), entry(), entry()])).map(accepted);
  const superseded = entries.map(({ supersedes }) => supersedes).filter((id) => id !== null);
  assert.is(new Set(superseded).size, 3);
  const current = objectsOf(await list('system', '?systemRef=at-once&current=true'), 'items');
  assert.is(current.length, 1);
});

test('a list is read page by page, of one system, and never of another account', async () => {
  for (let i = 0; i < 5; i++) accepted(await post('dataset', { sourceId: 'pages', systemRef: `s${i % 2}` }));
  const first = await list('dataset', '?sourceId=pages&limit=3');
  const second = await list('dataset', `?sourceId=pages&limit=3&cursor=${String(first.nextCursor)}`);
  const ids = [first, second].flatMap((page) => objectsOf(page, 'items').map(({ datasetId }) => datasetId));
  assert.is(new Set(ids).size, 5);
  assert.is(second.nextCursor, null);
  assert.is(objectsOf(await list('dataset', '?sourceId=pages&systemRef=s1'), 'items').length, 2);
  const other = await node.get('/v1/datasets', { key: API_KEYS.enterprise });
  assert.equal(other.body.items, []);
  requireProblem(await node.get('/v1/datasets?cursor=x'), 'invalid-field', 'no cursor', 'cursor');
  for (const elsewhere of ['datasets?', 'datasets?sourceId=pages&current=true&', 'suppliers?sourceId=pages&']) {
    const answer = await node.get(`/v1/${elsewhere}cursor=${String(first.nextCursor)}`);
    requireProblem(answer, 'invalid-field', `the cursor of another list: ${elsewhere}`, 'cursor');
  }
});

test('an erasure of a person finds notices and requests', async () => {
  const request = accepted(await post('request', { subjectRef: 'to-be-forgotten', sourceId: 'people' }));
  const answer = accepted(
    await node.post('/v1/erasures', { subjectRef: 'to-be-forgotten', requestedBy: 'dpo', legalBasis: 'GDPR 17' }),
  );
  assert.is(answer.erasedCount, 1);
  const [item] = objectsOf(await list('request', '?sourceId=people'), 'items');
  assert.is(item?.attestationId, request.attestationId, 'what is signed stays');
});

test('a word that is not among the recommended ones is signed with a warning', async () => {
  const body = accepted(await post('conformity', { outcome: 'fine' }));
  assert.match(String(body.warnings), /outcome: "fine" is none of conforming/);
});

test('a store with all kinds is whole', async () => {
  const { home } = node.config;
  await node.stop();
  const { report } = await fsck(home);
  assert.equal(report.findings, []);
});

test.run();
