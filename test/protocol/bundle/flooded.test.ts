import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite as suite } from '../../../node/keys/native-suite.ts';
import type { Bundle } from '../../../protocol/bundle/bundle.ts';
import type { Verdict } from '../../../protocol/bundle/verdict.ts';
import { verifyBundle } from '../../../protocol/bundle/verify.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';
import { withLinked } from '../../fixtures/federation-batch.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const federation = await TestFederation.create({ signerOf: nativeSigner });
const batch = await federation.sealBatch('eu', [{}, {}, {}]);
await federation.revokeKey('eu');
const linked = batch.bundleFor(2);
const bundle = withLinked(batch.bundleFor(1), [linked]);

test('what is put in many times over costs few signatures', () => {
  const many = <Item>(item: Item): Item[] => Array.from({ length: 1000 }, () => item);
  const unsigned = <Signed extends { readonly signature: string }>(signed: Signed | undefined) => {
    if (signed === undefined) throw new Error('nothing to sign');
    return many({ ...signed, signature: batch.bundleFor(1).receipt.signature });
  };
  const { cosignatures, keys, revocations } = bundle;
  const plain = verificationsOf(bundle);
  for (const [what, flooded] of [
    ['cosignatures', { ...bundle, cosignatures: unsigned(cosignatures[0]) }],
    ['keys', { ...bundle, keys: unsigned(keys[0]) }],
    ['revocations', { ...bundle, revocations: unsigned(revocations[0]) }],
    ['of a linked record', withLinked(bundle, [{ ...linked, cosignatures: unsigned(cosignatures[0]) }])],
  ] satisfies [string, Bundle][]) {
    const { verifications, verdict } = verificationsOf(flooded);
    assert.ok(verifications < plain.verifications + 50, `${what}: ${verifications} signatures`);
    const holds = what === 'of a linked record' ? verdict.linked.every(({ holds: one }) => one) : verdict.verified;
    assert.is(holds, false, what);
  }
});

function verificationsOf(changed: Bundle): { readonly verifications: number; readonly verdict: Verdict } {
  let verifications = 0;
  const counting: Suite = {
    ...suite,
    verify(...signed) {
      verifications++;
      return suite.verify(...signed);
    },
  };
  const verdict = verifyBundle(counting, changed);
  return { verifications, verdict };
}

test.run();
