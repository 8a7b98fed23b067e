import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import {
  type Bundle,
  BundleError,
  MAX_LINKED_PROOFS,
  parseBundle,
  type Proof,
} from '../../../protocol/bundle/bundle.ts';
import { verifyBundle } from '../../../protocol/bundle/verify.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { AGENT_CONTEXT, agentStatementText } from '../../../protocol/statement/agent-statement.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { withLinked } from '../../fixtures/federation-batch.ts';
import { seedOf } from '../../fixtures/federation-member.ts';
import { RecordChain, type RecordDraft } from '../../fixtures/federation-record.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { reviewer, shown } from '../evidence/case.ts';
import { cachedSuite } from './cached-suite.ts';

const federation = await TestFederation.create({ signerOf: nativeSigner });
const pin = federation.chain.genesis;
const at = timestampOf(federation.now);
const suite = cachedSuite(nativeSuite);

const agent = nativeSigner(seedOf('agent'));
const agentClaims = { agentId: 'triage', agentKeyId: agent.keyId };
const registration = await sealed({
  kind: 'agent_registration',
  payload: { agentId: 'triage' },
  claims: { ...agentClaims, agentPublicKey: encodeSignature(agent.publicKey) },
});
const start = await sealed({ kind: 'session_start' });
const subject = await sealed({
  links: { session: start.id, agent: registration.id },
  claims: { ...agentClaims, agentSignature: await nextAgentSignature() },
});
const end = await sealed({ kind: 'session_end', links: { session: start.id } });
const overrides = [
  await sealed(overrideBy('a')),
  await sealed(overrideBy('b')),
  await sealed({ ...overrideBy('c'), account: 'acc_else' }),
];
const all = [...overrides, start, end, registration].map(({ bundle }) => bundle);
const EVERYTHING = ['article12_1', 'article12_3a', 'article12_3d', 'article14', 'article14_5'];
const bundle = withLinked(subject.bundle, all);

test('with its linked records a bundle shows what the records show together, in both suites alike', () => {
  const verdict = verifyBundle(nativeSuite, bundle, { pin, at });
  assert.ok(verdict.verified && verdict.witnessed);
  assert.equal(verdict.problems, []);
  assert.equal(shown(verdict), EVERYTHING);
  assert.equal(
    verdict.linked.map(({ kind, holds }) => [kind, holds]),
    [...Array.from({ length: 3 }, () => 'human_override'), 'session_start', 'session_end', 'agent_registration'].map(
      (kind) => [kind, true],
    ),
  );
  assert.equal(verdict.agent, { agentId: 'triage', keyId: agent.keyId, signature: 'valid' });
  assert.is(verdict.complianceDetail.evaluatedAt, at);
  assert.equal(verifyBundle(nobleSuite, bundle, { pin, at }), verdict);
});

test('without them it shows what the record shows alone, and is verified all the same', () => {
  const verdict = verifyBundle(suite, subject.bundle, { pin });
  assert.ok(verdict.verified);
  assert.equal(shown(verdict), ['article12_1']);
  assert.equal(verdict.linked, []);
  assert.is(verdict.agent?.signature, 'unknown-key');
  assert.is(verdict.complianceDetail.evaluatedAt, null);
});

test('a linked record that does not hold counts for nothing and leaves the bundle verified', () => {
  const spoilt: readonly ((proof: Proof) => Proof)[] = [
    (proof) => withRecord(proof, 'body', '"sourceSeq"', '"sourceSeQ"'),
    (proof) => withRecord(proof, 'body', '"channel":"direct"', '"channel":"tiered"'),
    (proof) => withRecord(proof, 'head', '"submittedAt":"202', '"submittedAt":"203'),
    (proof) => ({ ...proof, receipt: { ...proof.receipt, signature: encodeSignature(new Uint8Array(3309)) } }),
    (proof) => ({ ...proof, batch: proof.batch && { ...proof.batch, path: [...proof.batch.path, pin] } }),
    (proof) => ({ ...proof, anchor: subject.bundle.anchor }),
    (proof) => ({ ...proof, batch: null }),
    (proof) => ({ ...proof, receipt: { ...proof.receipt, statement: 'nothing' } }),
    (proof) => ({ ...proof, cosignatures: subject.bundle.cosignatures }),
  ];
  for (const [i, spoil] of spoilt.entries()) {
    const verdict = verifyBundle(suite, { ...bundle, linked: (bundle.linked ?? []).map(spoil) }, { pin });
    assert.ok(verdict.verified && verdict.witnessed, `${i}`);
    assert.equal(verdict.problems, []);
    assert.equal(shown(verdict), ['article12_1'], `${i}`);
    assert.is(verdict.agent?.signature, 'unknown-key');
    for (const { holds, problems } of verdict.linked) assert.ok(!holds && problems.length > 0, `${i}`);
  }
});

test('each linked record is judged by itself', () => {
  const linked = (bundle.linked ?? []).map((proof, i) =>
    i === 1 ? Object.assign({}, proof, { record: NO_RECORD }) : proof,
  );
  const verdict = verifyBundle(suite, { ...bundle, linked }, { pin });
  assert.equal(
    verdict.linked.map(({ holds }) => holds),
    [true, false, true, true, true, true],
  );
  assert.equal([verdict.linked[1]?.id, verdict.linked[1]?.kind], [null, null]);
  assert.equal(
    shown(verdict),
    EVERYTHING.filter((clause) => clause !== 'article14_5'),
  );
});

test('a linked record that waits for its batch is evidence as soon as its node signed it', () => {
  const linked = (bundle.linked ?? []).map((proof) => Object.assign({}, proof, WAITING));
  assert.equal(shown(verifyBundle(suite, { ...bundle, linked }, { pin })), EVERYTHING);
});

test('where the record itself does not hold, its linked records show nothing, and it is nobody’s', () => {
  for (const changed of [
    withRecord(bundle, 'body', '"channel":"direct"', '"channel":"tiered"'),
    withRecord(bundle, 'head', '"submittedAt":"202', '"submittedAt":"203'),
    { ...bundle, record: NO_RECORD },
    { ...bundle, keys: [] },
  ]) {
    const verdict = verifyBundle(suite, changed, { pin });
    assert.not(verdict.verified);
    assert.equal(shown(verdict), []);
    assert.is(verdict.agent, null);
  }
});

test('under another federation’s pin, and without rosters that hold, no linked record holds', () => {
  const foreign = verifyBundle(suite, bundle, { pin: subject.payloadHash });
  const [roster] = bundle.rosters;
  const rosters = roster === undefined ? [] : [{ ...roster, signatures: [] }];
  const unruled = verifyBundle(suite, { ...bundle, rosters });
  for (const verdict of [foreign, unruled]) {
    assert.equal(shown(verdict), []);
    for (const { holds, problems } of verdict.linked) assert.ok(!holds && problems.length > 0);
  }
});

test('records of a key that was revoked before they reached the ledger are evidence of nothing', async () => {
  await federation.rotateKey('us');
  const override = (await federation.sealBatch('us', [overrideBy('d')])).bundleFor(0, { disclose: false });
  assert.ok(shown(verifyBundle(suite, withLinked(subject.bundle, [override]))).includes('article14'));
  const revoked = await federation.revokeKey('us', { compromisedSince: timestampOf(Date.UTC(2026, 0, 1)) });
  const known = withLinked(subject.bundle, [{ ...override, revocations: [revoked] }]);
  const verdict = verifyBundle(suite, known, { pin });
  assert.ok(verdict.verified);
  assert.equal(shown(verdict), ['article12_1']);
});

test('an agent’s signature that does not hold leaves the node’s own as it is', async () => {
  const forged = await sealed({
    links: { agent: registration.id },
    claims: { ...agentClaims, agentSignature: encodeSignature(new Uint8Array(3309)) },
  });
  const verdict = verifyBundle(suite, withLinked(forged.bundle, [registration.bundle]), { pin });
  assert.ok(verdict.verified && verdict.checks.sigValid);
  assert.is(verdict.agent?.signature, 'invalid');
});

test('linked records survive their JSON, are bounded in number, and carry nothing else', () => {
  assert.equal(parseBundle(parseJson(JSON.stringify(bundle))), bundle);
  const [proof] = bundle.linked ?? [];
  if (proof === undefined) throw new Error('no linked record');
  const full = Array.from({ length: MAX_LINKED_PROOFS }, () => proof);
  assert.is(parseBundle({ ...bundle, linked: full }).linked?.length, MAX_LINKED_PROOFS);
  for (const linked of [
    [...full, proof],
    [{ ...proof, keys: [] }],
    [{ ...proof, disclosure: null }],
    [null],
    {},
    null,
  ]) {
    assert.throws(
      () => parseBundle(parseJson(JSON.stringify({ ...bundle, linked }))),
      (error: unknown) => error instanceof BundleError,
    );
  }
});

const NO_RECORD = { head: '{}', body: '{}' };
const WAITING = { batch: null, anchor: null, cosignatures: [] };

function withRecord<Proven extends Proof>(proof: Proven, half: 'head' | 'body', from: string, to: string): Proven {
  assert.ok(proof.record[half].includes(from));
  return { ...proof, record: { ...proof.record, [half]: proof.record[half].replace(from, to) } };
}

/** A record in a batch of its own. */
async function sealed(draft: RecordDraft) {
  const batch = await federation.sealBatch('eu', [draft]);
  const [made] = batch.records;
  if (made === undefined) throw new Error('no record');
  const { id, payloadHash } = made.record;
  const whole: Bundle = batch.bundleFor(0, { disclose: false });
  return { id, payloadHash, bundle: whole };
}

function overrideBy(letter: string): RecordDraft {
  const claims = { reviewer: reviewer(letter), reviewOutcome: 'confirmed' } as const;
  return { kind: 'human_override', links: { original: subject.id }, claims };
}

/** The agent's signature of the node's next record, whose data hash the chain's seed foretells. */
async function nextAgentSignature() {
  const { seed } = federation;
  const chain = new RecordChain(seed, nodeId('eu'));
  while (chain.next < federation.records('eu').next) chain.append({}, at);
  const { dataHash } = chain.append({}, at).record.claims;
  if (dataHash === undefined) throw new Error('a decision has a data hash');
  const text = agentStatementText({ agent: 'triage', dataHash, keyId: agent.keyId, sourceId: 'loans' });
  return encodeSignature(await agent.sign(utf8(text), AGENT_CONTEXT));
}

test.run();
