import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { type Bundle, parseBundle } from '../../../protocol/bundle/bundle.ts';
import { verifyBundle } from '../../../protocol/bundle/verify.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const ALL_TRUE = { leafRederived: true, payloadHashMatch: true, proofWalk: true, bundleBinding: true, sigValid: true };

const federation = await TestFederation.create();
const batch = await federation.sealBatch('eu', [{}, { payload: { note: 'no data' } }, {}, {}, { sourceId: 'other' }]);
const second = await federation.sealBatch('eu', [{ claims: { channel: 'tiered' } }]);
const pin = federation.chain.genesis;

for (const suite of [nobleSuite, nativeSuite]) {
  test(`a complete bundle is verified and witnessed (${suite.name})`, () => {
    for (const which of [0, 1, 4]) {
      const verdict = verifyBundle(suite, batch.bundleFor(which), { pin });
      assert.equal(verdict.problems, []);
      assert.equal(verdict.checks, ALL_TRUE);
      assert.ok(verdict.verified && verdict.witnessed && verdict.pinned);
      assert.is(verdict.payloadState, 'available');
      assert.is(verdict.status, 'confirmed');
      assert.is(verdict.federation, pin);
      assert.is(verdict.record?.id, batch.records[which]?.record.id);
      assert.is(verdict.record?.node, 'eu');
    }
  });
}

test('a bundle survives its own JSON', () => {
  const bundle = batch.bundleFor(3);
  const read = parseBundle(parseJson(JSON.stringify(bundle)));
  assert.equal(read, bundle);
  assert.ok(verifyBundle(nativeSuite, read, { pin }).verified);
});

test('the second batch of a node, which names the first, verifies too', () => {
  assert.is(second.envelope.prev, batch.hash);
  assert.ok(verifyBundle(nativeSuite, second.bundleFor(0), { pin }).verified);
});

test('a payload that is not disclosed does not count, and is not reported as checked', () => {
  const verdict = verifyBundle(nativeSuite, batch.bundleFor(0, { disclose: false }), { pin });
  assert.ok(verdict.verified);
  assert.equal(verdict.checks, { ...ALL_TRUE, payloadHashMatch: false });
  assert.is(verdict.payloadState, 'withheld');
  assert.equal(verdict.problems, []);
});

test('before anchoring, all that is there holds and nothing is verified', () => {
  const pending = verifyBundle(nativeSuite, { ...batch.bundleFor(0), anchor: null }, { pin });
  assert.not(pending.verified);
  assert.ok(pending.witnessed);
  assert.equal(pending.checks, ALL_TRUE);
  assert.is(pending.status, 'pending');
  const buffered = verifyBundle(nativeSuite, { ...second.bundleFor(0), anchor: null }, { pin });
  assert.is(buffered.status, 'buffered');
});

test('before sealing, a receipt alone is checked', () => {
  const sealed = batch.bundleFor(0);
  const verdict = verifyBundle(nativeSuite, { ...sealed, batch: null, anchor: null, cosignatures: [] }, { pin });
  assert.not(verdict.verified);
  assert.not(verdict.witnessed);
  assert.equal(verdict.checks, ALL_TRUE);
  assert.equal(verdict.problems, []);
});

test('without a pin a bundle is consistent with itself, and not pinned', () => {
  const verdict = verifyBundle(nativeSuite, batch.bundleFor(0));
  assert.ok(verdict.verified);
  assert.not(verdict.pinned);
  assert.is(verdict.federation, pin);
});

test('a bundle of another federation fails under the pin', async () => {
  const other = await TestFederation.create({ seed: 'another', signerOf: nativeSigner });
  const theirs = (await other.sealBatch('eu', [{}])).bundleFor(0);
  assert.ok(verifyBundle(nativeSuite, theirs).verified);
  const verdict = verifyBundle(nativeSuite, theirs, { pin });
  assert.not(verdict.verified);
  assert.not(verdict.witnessed);
  assert.not(verdict.pinned);
  assert.equal(codesOf(verdict.problems), ['bundleBinding federation-mismatch']);
});

test('fewer cosignatures than the quorum leave a bundle verified but not witnessed', async () => {
  const pairs = [
    [[], false],
    [['us', 'ca'], false],
    [['us', 'ca', 'jp'], true],
  ] as const;
  for (const [witnesses, witnessed] of pairs) {
    const sealed = await federation.sealBatch('sg', [{}], { witnesses });
    const verdict = verifyBundle(nativeSuite, sealed.bundleFor(0), { pin });
    assert.ok(verdict.verified);
    assert.is(verdict.witnessed, witnessed, witnesses.join());
  }
});

test('a federation of one is verified and never witnessed', async () => {
  const alone = await TestFederation.create({ nodes: ['eu'], seed: 'alone', signerOf: nativeSigner });
  const verdict = verifyBundle(nativeSuite, (await alone.sealBatch('eu', [{}, {}])).bundleFor(1));
  assert.equal(verdict.problems, []);
  assert.ok(verdict.verified);
  assert.not(verdict.witnessed);
});

test('parts of two good bundles do not make one', () => {
  const mine = batch.bundleFor(0);
  const other = batch.bundleFor(4);
  const later = second.bundleFor(0);
  const mixes: readonly Bundle[] = [
    { ...mine, record: other.record },
    { ...mine, receipt: other.receipt },
    { ...mine, receipt: { ...mine.receipt, path: other.receipt.path } },
    { ...mine, batch: later.batch },
    { ...mine, batch: later.batch, anchor: later.anchor, cosignatures: later.cosignatures },
    { ...mine, anchor: later.anchor },
    { ...mine, cosignatures: later.cosignatures },
    { ...mine, record: later.record, receipt: later.receipt },
  ];
  for (const [i, mix] of mixes.entries()) assert.not(verifyBundle(nativeSuite, mix, { pin }).verified, `mix ${i}`);
});

function codesOf(problems: readonly { readonly check: string; readonly code: string }[]): readonly string[] {
  return problems.map(({ check, code }) => `${check} ${code}`);
}

test.run();
