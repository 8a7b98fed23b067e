import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { KeyDirectory } from '../../../protocol/keys/key-directory.ts';
import { judgeEnvelopes } from '../../../protocol/proof/judge.ts';
import { type MisdeedProof, parseProofText, PROOF_FORMAT } from '../../../protocol/proof/proof.ts';
import { verifyProof } from '../../../protocol/proof/verify.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const federation = await TestFederation.create({ nodes: ['us', 'eu', 'ca'], signerOf: nativeSigner });
const first = await federation.sealBatch('eu', [{}]);
const second = await federation.sealBatch('eu', [{}, {}]);
const { signer } = federation.member('eu').key;
const { genesis } = federation.chain;

function proofOf(misdeed: MisdeedProof['misdeed'], parts: Partial<MisdeedProof>): MisdeedProof {
  const { certificates: keys, revocations } = federation;
  const proof = { statements: [], contradicting: [], keys, revocations, rosters: [federation.genesis], ...parts };
  return parseProofText(JSON.stringify({ format: PROOF_FORMAT, misdeed, ...proof }));
}

const judge = (proof: MisdeedProof) => verifyProof(nativeSuite, proof, genesis);

test('two envelopes for one batch prove an equivocation, and name its node', async () => {
  const rival = await signStatement(envelopeStatement, { ...first.envelope, size: 2 }, signer);
  const { finding, pinned } = judge(proofOf('equivocation', { statements: [first.signed, rival] }));
  assert.equal([finding.members, finding.batch, pinned], [['eu'], { node: 'eu', number: 1 }, true]);
  assert.throws(() => judge(proofOf('broken-chain', { statements: [first.signed, rival] })), /do not prove/);
  assert.throws(() => judge(proofOf('equivocation', { statements: [first.signed, first.signed] })), /do not prove/);
  const unsigned = { ...rival, signature: first.signed.signature };
  assert.throws(() => judge(proofOf('equivocation', { statements: [first.signed, unsigned] })), /does not hold/);
  assert.throws(
    () => judge(proofOf('equivocation', { statements: [first.signed, rival], keys: [] })),
    /no certificate/,
  );
});

test('an envelope that does not follow the one before proves a broken chain; one that does proves nothing', async () => {
  const directory = new KeyDirectory(nativeSuite, () => federation.chain);
  for (const signed of federation.certificates) directory.addCertificate(signed);
  const authorities = { suite: nativeSuite, rosters: federation.chain, directory };
  assert.is(judgeEnvelopes(authorities, first.signed, second.signed), null);
  const loose = await signStatement(envelopeStatement, { ...second.envelope, prev: null }, signer);
  assert.equal(judge(proofOf('broken-chain', { statements: [first.signed, loose] })).finding.members, ['eu']);
  const start = await signStatement(envelopeStatement, { ...first.envelope, first: 2 }, signer);
  assert.equal(judge(proofOf('broken-chain', { statements: [start] })).finding.batch, { node: 'eu', number: 1 });
});

test('two rosters of one version name who signed both', async () => {
  const one = await federation.signRoster(federation.nextRoster({ name: 'one' }), ['us', 'eu']);
  const other = await federation.signRoster(federation.nextRoster({ name: 'other' }), ['eu', 'ca']);
  const { finding } = judge(proofOf('double-roster', { contradicting: [one, other] }));
  assert.equal(finding.members, ['eu']);
  assert.throws(() => judge(proofOf('double-roster', { contradicting: [one, one] })), /do not prove/);
});

test('a revoked key still proves, and is named', async () => {
  await federation.revokeKey('eu');
  const rival = await signStatement(envelopeStatement, { ...first.envelope, size: 2 }, signer);
  const { finding } = judge(proofOf('equivocation', { statements: [first.signed, rival] }));
  assert.equal(finding.revokedKeys, [signer.keyId]);
});

test.run();
