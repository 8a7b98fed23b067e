import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Draft } from '../../../node/intake/draft.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { linkedTable, linkTable } from '../../../node/records/link-tables.ts';
import { groupTable } from '../../../node/records/record-tables.ts';
import { MAX_OVERRIDES } from '../../../node/verification/linked-records.ts';
import { ACCOUNT_SOURCE } from '../../../protocol/accounts/statement.ts';
import { BundleVerdictShape } from '../../../protocol/api/bundles.ts';
import { VerifyAnswerShape } from '../../../protocol/api/verify.ts';
import { parseBundle, parseBundleText } from '../../../protocol/verdict/parse.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import type { Evaluation } from '../../../protocol/evidence/rules.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { commitText, decisionTexts } from '../../../protocol/payload/commitment.ts';
import { AGENT_CONTEXT, agentStatementText } from '../../../protocol/statement/agent-statement.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { seedOf } from '../../fixtures/federation-member.ts';
import { versionDraft } from '../../fixtures/account-statement.ts';
import { eraseKey } from '../../fixtures/payload-keys.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { reviewer, shown } from '../../protocol/evidence/case.ts';
import { shapeCheck } from '../http/answer-shape.ts';
import { objectsOf } from '../http/routes/governance-bodies.ts';
import { rewritten } from './rewritten.ts';

const ACCOUNT = 'acc_eu_unmetered';
/** Changes of a stored record: one that still reads, as another time, and ones that do not. */
const CHANGES = [
  ['head', '"submittedAt":"202', '"submittedAt":"203'],
  ['body', '"channel":"direct"', '"channel":"tiered"'],
  ['body', '"channel":"direct"', '"channel:"direct"'],
] as const;
const LINKED = 10;
/** More that a bundle may have for each linked record of its batch (protocol §7). */
const LINKED_BYTES = 8_000;
const network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local' });
const eu = network.node('eu');
const us = network.node('us');
test.after(() => network[Symbol.asyncDispose]());
const requireVerdict = shapeCheck(VerifyAnswerShape);
const requireBundleVerdict = shapeCheck(BundleVerdictShape);

test('an override of a record shows at once, as a count and an id, and names nobody', async () => {
  const record = await make(eu);
  const before = await verdictOn(eu, record.id);
  assert.equal(links(before), { overrides: 0, incidents: 0, session: false, ids: [], others: [], truncated: false });
  assert.is(flags(before).article14, false);
  const override = await overrideOf(record.id, 'a');
  const after = await verdictOn(eu, record.id);
  assert.equal([flags(after).article14, flags(after).article12_3d, flags(after).article14_5], [true, true, false]);
  assert.equal(links(after), {
    overrides: 1,
    incidents: 0,
    session: false,
    ids: [override.id],
    others: [],
    truncated: false,
  });
  await overrideOf(record.id, 'b');
  const twice = await verdictOn(eu, record.id);
  assert.is(flags(twice).article14_5, true);
  for (const text of [JSON.stringify(twice), JSON.stringify(await verdictOn(eu, override.id))]) {
    assert.not.match(text, 'hmac-sha256');
    assert.not.match(text, ACCOUNT);
  }
});

test('what another account says of a record counts for nothing', async () => {
  const record = await make(eu);
  await overrideOf(record.id, 'a', { account: 'acc_eu_enterprise' });
  await make(eu, { kind: 'incident', links: { related: [record.id] }, account: 'acc_eu_enterprise' });
  const verdict = await verdictOn(eu, record.id);
  assert.equal(links(verdict), { overrides: 0, incidents: 0, session: false, ids: [], others: [], truncated: false });
  assert.is(flags(verdict).article14, false);
});

test('incidents that name a record are counted', async () => {
  const record = await make(eu);
  const incident = await make(eu, { kind: 'incident', links: { related: [record.id] } });
  const { incidents, ids } = links(await verdictOn(eu, record.id));
  assert.equal([incidents, ids], [1, [incident.id]]);
});

test('a period of use shows once its session has ended, on the record, its start and its end', async () => {
  const start = await make(eu, { kind: 'session_start' });
  const record = await make(eu, { links: { session: start.id } });
  const open = await verdictOn(eu, record.id);
  assert.equal([flags(open).article12_3a, links(open).session], [false, true]);
  const end = await make(eu, { kind: 'session_end', links: { session: start.id } });
  for (const { id } of [record, start, end]) assert.is(flags(await verdictOn(eu, id)).article12_3a, true, id);
  assert.equal(links(await verdictOn(eu, record.id)).ids, [start.id, end.id]);
});

test('the id of what a record made stands for the record', async () => {
  const start = await make(eu, { kind: 'session_start' });
  const verdict = await verdictOn(eu, objectId('session', start.id));
  assert.equal([verdict.attestationId, verdict.recordKind], [start.id, 'session_start']);
  assert.is((await eu.get(`/v1/status/${objectId('session', start.id)}`)).body.attestationId, start.id);
  assert.is((await eu.get(`/v1/verify/${start.id.replace('att', 'zzz')}`, { key: null })).status, 400);
});

test('an override that was changed on the disk counts for nothing, and its record holds on', async () => {
  const record = await make(eu);
  const override = await overrideOf(record.id, 'a');
  for (const [half, from, to] of CHANGES) {
    await rewritten(eu, override, half, from, to, async () => {
      const verdict = await verdictOn(eu, record.id);
      assert.equal([verdict.sigValid, links(verdict).overrides], [true, 0]);
      assert.equal([flags(verdict).article12_1, flags(verdict).article14], [true, false]);
    });
  }
  assert.is(flags(await verdictOn(eu, record.id)).article14, true);
});

test('a record that was changed on the disk shows nothing, whatever is linked to it', async () => {
  const record = await make(eu);
  await overrideOf(record.id, 'a');
  for (const [half, from, to] of CHANGES) {
    await rewritten(eu, record, half, from, to, async () => {
      const verdict = await verdictOn(eu, record.id);
      assert.is(verdict.verified, false);
      assert.not(Object.values(flags(verdict)).includes(true));
    });
  }
});

test('links that cannot be read leave the record as it is, and are said to be missing', async () => {
  const record = await make(eu);
  const parts = [record.id, 'original', 'human_override', 'eu', 1] as const;
  await eu.context.store.write([linkTable.put(parts, 'nonsense'), linkedTable.put([record.id], '')]);
  const verdict = await verdictOn(eu, record.id);
  assert.equal([verdict.sigValid, links(verdict).truncated], [true, true]);
  await eu.context.store.write([linkTable.del(...parts)]);
});

test('an override whose receipt is damaged takes no other with it', async () => {
  const record = await make(eu);
  const damaged = await overrideOf(record.id, 'a');
  const whole = await overrideOf(record.id, 'b');
  const { store } = eu.context;
  const row = await groupTable.last(store, [damaged.node], damaged.seq);
  if (row === undefined) throw new Error('no receipt');
  const parts = [damaged.node, Number(row[0])] as const;
  await store.write([groupTable.put([...parts], { ...row[1], statement: '{}' })]);
  const verdict = await verdictOn(eu, record.id);
  await store.write([groupTable.put([...parts], row[1])]);
  assert.is(flags(verdict).article14, true);
  assert.equal([links(verdict).ids, links(verdict).truncated], [[whole.id], true]);
});

test('an erased payload changes no flag', async () => {
  const claims = { modelId: 'm', modelVersion: '1', riskLevel: 'high', matched: true };
  const record = await make(eu, { claims });
  await overrideOf(record.id, 'a');
  const before = await verdictOn(eu, record.id);
  await eraseKey(eu.context.store, record.id);
  const after = await verdictOn(eu, record.id);
  assert.equal([before.payloadState, after.payloadState], ['available', 'erased']);
  assert.equal(flags(after), flags(before));
  assert.is(flags(after).article12_2, true);
});

test('of more overrides than count, two persons are among those that do', async () => {
  const record = await make(eu);
  for (let i = 0; i < MAX_OVERRIDES + 5; i++) await overrideOf(record.id, 'a');
  await overrideOf(record.id, 'b');
  const verdict = await verdictOn(eu, record.id);
  assert.equal([links(verdict).overrides, links(verdict).truncated], [MAX_OVERRIDES, true]);
  assert.is(flags(verdict).article14_5, true);
  const answer = await eu.get(`/v1/bundles/${record.id}?partial=1&linked=1`);
  assert.is(answer.headers.get('x-linked-truncated'), 'true');
  const bundle = parseBundleText(answer.text);
  const { linked = [] } = bundle;
  assert.is(linked.length, MAX_OVERRIDES);
  const two = verifyBundle(nobleSuite, { ...bundle, linked: linked.slice(0, 2) });
  assert.is(two.evidence?.complianceDetail.article14_5, true);
});

test('a record that its agent signed is shown as the agent’s', async () => {
  const agent = nativeSigner(seedOf('agent'));
  const data = { output: 'yes' };
  const salt = seedOf('salt');
  const keyClaims = { agentId: 'triage', agentKeyId: agent.keyId };
  const agentPublicKey = encodeSignature(agent.publicKey);
  const registration = await make(eu, {
    kind: 'agent_registration',
    sourceId: 'triage',
    claims: { ...keyClaims, agentPublicKey },
  });
  const decision = decisionTexts(data);
  const dataHash = commitText(nobleSuite, 'meridian/data/1', salt, decision.data);
  const text = agentStatementText({ agent: 'triage', dataHash, keyId: agent.keyId, sourceId: 's' });
  const agentSignature = encodeSignature(await agent.sign(utf8(text), AGENT_CONTEXT));
  const draft = { decision, salt, links: { agent: registration.id }, payload: JSON.stringify({ data }) };
  const record = await make(eu, { ...draft, claims: { ...keyClaims, agentSignature } });
  const verdict = await verdictOn(eu, record.id);
  assert.equal(verdict.agent, { agentId: 'triage', keyId: agent.keyId, signature: 'valid' });
  assert.equal(verdict.problems, []);
  const elsewhere = await make(eu, { ...draft, sourceId: 'else', claims: { ...keyClaims, agentSignature } });
  const forged = await verdictOn(eu, elsewhere.id);
  assert.equal(forged.agent, { agentId: 'triage', keyId: agent.keyId, signature: 'invalid' });
  assert.is(forged.sigValid, true);
  const { text: bundle } = await eu.get(`/v1/bundles/${record.id}?partial=1&linked=1`);
  assert.is(verifyBundle(nobleSuite, parseBundleText(bundle)).agent?.signature, 'valid');
  assert.is((await verdictOn(eu, registration.id)).agent, null);
});

test('every node, and the bundle with no network, shows the same of a record and what is linked to it', async () => {
  const start = await make(eu, { kind: 'session_start' });
  const record = await make(eu, { links: { session: start.id } });
  await overrideOf(record.id, 'a');
  await overrideOf(record.id, 'b');
  await make(eu, { kind: 'session_end', links: { session: start.id } });
  await eu.seal();
  await until('both nodes have it confirmed', async () => {
    const seen = await Promise.all([eu, us].map((node) => node.get(`/v1/verify/${record.id}`)));
    return seen.every(({ body }) => body.status === 'confirmed' && body.verified === true);
  });
  const [here, there] = [await verdictOn(eu, record.id), await verdictOn(us, record.id)];
  assert.equal(flags(there), flags(here));
  assert.equal(links(there), links(here));
  const expected = ['article12_1', 'article12_3a', 'article12_3d', 'article14', 'article14_5'];
  const bundle = parseBundle((await eu.get(`/v1/bundles/${record.id}?linked=1`)).body);
  const pin = eu.context.keys.rosters.genesis;
  const offline = verifyBundle(nobleSuite, bundle, { pin });
  assert.ok(offline.verified && offline.linked.every(({ holds }) => holds));
  assert.equal(shown(evaluationOf(offline)), expected);
  const judged = await us.post('/v1/bundles/verify', bundle, { key: null });
  requireBundleVerdict(judged.body);
  assert.equal(flags(judged.body), flags(there));
  const plain = await eu.get(`/v1/bundles/${record.id}`);
  assert.is(plain.body.linked, undefined);
  const bare = verifyBundle(nobleSuite, parseBundle(plain.body), { pin });
  assert.equal(shown(evaluationOf(bare)), ['article12_1']);
});

test('ten linked records of one batch cost a bundle less than 8 kB each', async () => {
  const record = await make(eu);
  for (let i = 0; i < LINKED; i++) await overrideOf(record.id, `${i}`);
  await eu.seal();
  await until('it is confirmed', async () => (await eu.get(`/v1/verify/${record.id}`)).body.status === 'confirmed');
  const bytesOf = async (query: string) => {
    const { text } = await eu.get(`/v1/bundles/${record.id}${query}`);
    const { verified, linked } = verifyBundle(nobleSuite, parseBundleText(text), {
      pin: eu.context.keys.rosters.genesis,
    });
    assert.ok(verified && linked.every(({ word }) => word === 'verified'));
    return { bytes: Buffer.byteLength(text), linked: linked.length };
  };
  const [alone, all] = [await bytesOf(''), await bytesOf('?linked=1')];
  assert.equal([alone.linked, all.linked], [0, LINKED]);
  const each = (all.bytes - alone.bytes) / LINKED;
  assert.ok(each < LINKED_BYTES, `${Math.round(each)} bytes each, beside ${alone.bytes}`);
});

test('another node’s word turns a flag where the account’s statement names it before, at every node and offline', async () => {
  const subject = await make(eu, {});
  const start = await make(eu, { kind: 'session_start' });
  const inside = await make(eu, { links: { session: start.id } });
  await sealed(eu, inside);
  const override = { kind: 'human_override', links: { original: subject.id } } as const;
  const incident: Making = { kind: 'incident', links: { related: [subject.id] } };
  const end = { kind: 'session_end', links: { session: start.id } } as const;
  const review = (letter: string): Making => {
    return { ...override, claims: { reviewer: reviewer(letter), reviewOutcome: 'confirmed' } };
  };
  const early = [await make(us, review('a')), await make(us, incident)];
  const earlyEnd = await make(us, end);
  await sealed(us, earlyEnd);
  for (const node of [eu, us]) {
    const [verdict, session] = [await verdictOn(node, subject.id), await verdictOn(node, inside.id)];
    assert.equal([flags(verdict).article14, flags(session).article12_3a], [false, false]);
    assert.equal([links(verdict).overrides, links(verdict).incidents, links(verdict).ids], [0, 0, []]);
    assert.equal(
      links(verdict).others,
      early.map(({ id, kind }) => ({ id, kind, node: 'us' })),
    );
    assert.equal(verdict.accountStatements, []);
    // Of a review, and of the end of a session, itself: its node has no say in the account.
    assert.is((await verdictOn(node, earlyEnd.id)).speaks, false);
    assert.is(flags(await verdictOn(node, early[0]?.id ?? '')).article14, false);
  }
  const version = await make(eu, { ...versionDraft(1, ['eu', 'us'], ACCOUNT), sourceId: ACCOUNT_SOURCE });
  await sealed(eu, version);
  const named = [await make(us, review('b')), await make(us, review('c')), await make(us, incident)];
  const namedEnd = await make(us, end);
  await sealed(us, namedEnd);
  const statement = { version: 1, id: version.id };
  for (const node of [eu, us]) {
    const [verdict, session] = [await verdictOn(node, subject.id), await verdictOn(node, inside.id)];
    assert.equal([flags(verdict).article14_5, flags(session).article12_3a], [true, true]);
    assert.equal(
      [links(verdict).ids, objectsOf(links(verdict), 'others').length],
      [named.map(({ id }) => id), early.length],
    );
    assert.equal(verdict.accountStatements, [statement]);
  }
  for (const [record, flag] of [
    [subject, 'article14_5'],
    [inside, 'article12_3a'],
  ] as const) {
    const bundle = parseBundle((await eu.get(`/v1/bundles/${record.id}?linked=1`)).body);
    const offline = verifyBundle(nobleSuite, bundle, { pin: eu.context.keys.rosters.genesis });
    assert.is(offline.evidence?.complianceDetail[flag], true);
    assert.equal(offline.accountStatements, [statement]);
    const judged = await us.post('/v1/bundles/verify', bundle, { key: null });
    requireBundleVerdict(judged.body);
    assert.equal(flags(judged.body)[flag], true);
    // Without the version nothing of it is left: who leaves it out shows less.
    const others = bundle.linked?.filter(({ record: texts }) => !texts.head.includes('"kind":"account"')) ?? [];
    assert.is(verifyBundle(nobleSuite, { ...bundle, linked: others }).evidence?.complianceDetail[flag], false);
  }
});

/** Sealed, and decided and vouched for at both nodes. */
async function sealed(node: TestNode, { id }: AttestationRecord): Promise<void> {
  await node.seal();
  await until('both nodes have it confirmed', async () => {
    const seen = await Promise.all([eu, us].map((one) => one.get(`/v1/verify/${id}`)));
    return seen.every(({ body }) => body.status === 'confirmed');
  });
}

function evaluationOf({ evidence }: Verdict): Evaluation {
  if (evidence === null) throw new Error('a bundle without the body of its record');
  return evidence;
}

type Making = Partial<Omit<Draft, 'claims'>> & { readonly claims?: Partial<Draft['claims']> };

async function make(node: TestNode, more: Making = {}): Promise<AttestationRecord> {
  const data = { output: 'yes' };
  const draft: Draft = {
    kind: 'decision',
    account: ACCOUNT,
    sourceId: 's',
    payload: JSON.stringify({ data }),
    ...(more.kind === undefined ? { decision: decisionTexts(data) } : {}),
    links: {},
    ...more,
    claims: { channel: 'direct', ...more.claims },
  };
  return (await node.context.intake.submit(draft)).record;
}

function overrideOf(original: RecordId, letter: string, more: Making = {}, node = eu): Promise<AttestationRecord> {
  const claims = { reviewer: reviewer(letter), reviewOutcome: 'confirmed' } as const;
  return make(node, { kind: 'human_override', links: { original }, claims, ...more });
}

async function verdictOn(node: TestNode, id: string): Promise<JsonObject> {
  const { status, body, text } = await node.get(`/v1/verify/${id}`);
  assert.is(status, 200, text);
  requireVerdict(body);
  return body;
}

/** All flags of an answer. */
function flags(answer: JsonObject): JsonObject {
  const members = { ...member(answer, 'complianceStatus'), ...member(answer, 'complianceDetail') };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === 'boolean'));
}

function links(answer: JsonObject): JsonObject {
  return member(answer, 'links');
}

function member(of: JsonObject, name: string): JsonObject {
  const value = of[name];
  if (!isJsonObject(value)) throw new TypeError(`${name} is no object`);
  return value;
}

test.run();
