import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeBase64url } from '../../../protocol/bytes.ts';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { MAX_FAULTS } from '../../../protocol/verdict/signature-checks.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { bundleOf, revocationProofs, sizesOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { at, counted } from './judged.ts';

const MANY = 1000;
const QUORUM = 3;
/** Receipt, envelope and the certificate of their key. */
const OWN = 3;

const log = await FederationLog.create();
const sealed = await log.record('eu');
const bundle = await bundleOf(log, sealed);
const known = { pin: log.genesis };

function many<Item>(item: (i: number) => Item): Item[] {
  return Array.from({ length: MANY }, (_, i) => item(i));
}

/** Of that many, each another checkpoint of sg with a signature that is none. */
async function badCheckpoints(): Promise<Bundle['checkpoints']> {
  const good = await log.checkpoint('sg');
  return many((i) => ({
    text: checkpointStatement.write({ ...checkpointStatement.parse(good.text), vouched: { eu: i + 2 } }),
    signature: good.signature,
  }));
}

test('a verdict costs the signatures of a quorum and no more, whatever more is at hand', () => {
  const { verdict, signatures } = counted(bundle, known);
  assert.is(verdict.word, 'verified');
  assert.is(bundle.checkpoints.length, 5);
  assert.is(signatures, OWN + 2 * QUORUM);
});

test('checkpoints that could not settle it cost no signature', async () => {
  const two = await bundleOf(log, sealed, 0, { witnesses: ['us', 'eu', 'ca'] });
  assert.is(counted(two, known).signatures, OWN);
  const elsewhere = await FederationLog.create();
  await elsewhere.record('eu', [{}, {}]);
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => elsewhere.checkpoint(node)));
  assert.is(counted({ ...bundle, checkpoints }, known).signatures, OWN);
});

test('what hashes refuse costs its receipt and envelope no signature', () => {
  const receipt = { ...bundle.receipt, path: [log.genesis] };
  assert.is(counted({ ...bundle, receipt }, known).signatures, 0);
});

test('a bundle of a foreign federation costs no signature, however many members it has', async () => {
  const nodes = Array.from({ length: 200 }, (_, i) => `${i < 100 ? 'xa' : 'xb'}${i % 100}`);
  const foreign = await FederationLog.create({ nodes, quorum: 199, seed: 'foreign' });
  const shown = await bundleOf(foreign, await foreign.record('xa0'));
  assert.is(shown.checkpoints.length, 200);
  for (const verifier of [{ pin: log.genesis }, { log: viewOf(log) }]) {
    const { verdict, signatures } = counted(shown, verifier);
    assert.equal([verdict.word, signatures], ['pin-does-not-join', 0]);
  }
});

test('the same thing many times over costs as much as once', () => {
  const checkpoints = many(() => at(bundle.checkpoints));
  const flooded = { ...bundle, checkpoints: [...checkpoints.slice(0, 900), ...bundle.checkpoints] };
  assert.is(counted(flooded, known).signatures, OWN + 2 * QUORUM);
});

test('a flood of bad signatures ends the checking, and verifies nothing', async () => {
  const others = bundle.checkpoints.filter(({ text }) => !text.includes('"node":"sg"'));
  const badCertificates = many((i) => ({ ...at(bundle.keys), signature: signatureOf(i) }));
  const floods: Bundle[] = [
    { ...bundle, checkpoints: [...(await badCheckpoints()), ...others] },
    { ...bundle, keys: [...badCertificates, ...bundle.keys.slice(1)] },
  ];
  for (const flooded of floods) {
    const { verdict, signatures } = counted(flooded, known);
    assert.ok(signatures < OWN + 2 * QUORUM + MAX_FAULTS + 5, `${signatures} signatures`);
    assert.not(verdict.verified);
  }
});

test('no flood stands before a revocation that the verifier brings', async () => {
  const made = await FederationLog.create();
  const record = await made.record('eu');
  const plain = await bundleOf(made, record);
  const compromisedSince = timestampOf(made.now - 3_600_000);
  const revoked = await made.revoke('eu', { reason: 'compromised', compromisedSince });
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => made.checkpoint(node)));
  const revocations = {
    revocations: revocationProofs(made, [revoked], sizesOf(checkpoints)),
    checkpoints,
    keys: made.certificates,
  };
  const certificate = at(plain.keys);
  for (const keys of [[...many((i) => ({ ...certificate, signature: signatureOf(i) })), ...plain.keys], plain.keys]) {
    const { verdict } = counted({ ...plain, keys }, { pin: made.genesis, revocations });
    assert.is(verdict.word, 'contradicted');
  }
});

test('revocations that nobody shows, or of keys that signed nothing here, cost no signature', async () => {
  const made = await FederationLog.create();
  const record = await made.record('eu');
  const plain = await bundleOf(made, record, 0, { witnesses: ['us', 'ca', 'sg'] });
  await made.revoke('eu');
  await made.rotateKey('jp');
  await made.revoke('jp');
  await made.revoke('eu', { reason: 'compromised', compromisedSince: made.tick() });
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => made.checkpoint(node, { size: 3 })));
  const carrying = await bundleOf(made, record, 0, { checkpoints });
  const [first, ofOther, last] = [0, 1, 2].map((i) => carrying.revocations.slice(i, i + 1));
  const cost = (revocations: Bundle['revocations'] = []) =>
    counted({ ...carrying, revocations }, { pin: made.genesis }).signatures;
  const least = counted(plain, { pin: made.genesis }).signatures;
  assert.equal([least, cost([]), cost(ofOther), cost(last)], [least, least, least, least]);
  assert.is(cost(first), least + 1);
});

test('where checking ended, nothing is verified, though a quorum was counted', async () => {
  const { verdict } = counted({ ...bundle, revocations: await badRevocations() }, known);
  assert.not(verdict.verified);
  assert.is(verdict.ledger, null);
  assert.ok(verdict.problems.some(({ code }) => code === 'too-many-faults'));
  assert.not(verdict.evidence?.complianceStatus.article12_1);
});

/** Decided revocations of eu’s key by signatures that are none: more than are worth the checking. */
async function badRevocations(): Promise<Bundle['revocations']> {
  const revoked = await log.revoke('eu');
  const [proof] = revocationProofs(log, [revoked], []);
  if (proof === undefined) throw new Error('no revocation');
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => log.checkpoint(node)));
  bundle.checkpoints.push(...checkpoints);
  const { decision } = at(revocationProofs(log, [revoked], sizesOf(checkpoints)));
  return many((i) => ({ ...proof, decision, signature: signatureOf(i) }));
}

function signatureOf(i: number): Bundle['receipt']['signature'] {
  const bytes = decodeBase64url(bundle.receipt.signature);
  new DataView(bytes.buffer).setUint32(0, i);
  return encodeSignature(bytes);
}

test.run();
