import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Bundle, BundleAnchor } from '../../../protocol/bundle/bundle.ts';
import { openBundle } from '../../../protocol/bundle/opened-bundle.ts';
import { judge, verifyBundle } from '../../../protocol/bundle/verify.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { hashBytes, writeSha384 } from '../../../protocol/hash.ts';
import { KeyDirectory } from '../../../protocol/keys/key-directory.ts';
import { entityParts } from '../../../protocol/ledger/entity.ts';
import { nextRunningHash } from '../../../protocol/ledger/running-hash.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { isConsensusTimestamp, timestampOf } from '../../../protocol/time.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { fc } from '../../fixtures/properties.ts';

/** Consensus times lie this far around the compromise, to the nanosecond. In nanoseconds. */
const AROUND_NANOS = 2_500_000n;
const NANOS_PER_MS = 1_000_000n;
const NANOS_PER_SECOND = 1_000_000_000n;

const federation = await TestFederation.create({ nodes: ['eu', 'us', 'jp'], quorum: 1, signerOf: nativeSigner });
const { chain } = federation;
const batch = await federation.sealBatch('eu', [{}], { witnesses: ['us', 'jp'] });
const whole = batch.bundleFor(0);
const sealedMs = Date.parse(batch.envelope.sealedAt);

/** The bundle as if the ledger had given its anchor another time. */
function anchoredAt(nanos: bigint): Bundle {
  const { anchor } = whole;
  if (anchor === null) throw new Error('the batch is anchored');
  const consensusTimestamp = `${nanos / NANOS_PER_SECOND}.${String(nanos % NANOS_PER_SECOND).padStart(9, '0')}`;
  if (!isConsensusTimestamp(consensusTimestamp)) throw new Error(consensusTimestamp);
  const moved: BundleAnchor = { ...anchor, consensusTimestamp };
  const running = nextRunningHash((data) => nativeSuite.sha384(data), {
    previous: hashBytes(anchor.previousRunningHash),
    payer: entityParts(anchor.payer),
    topic: entityParts(anchor.topicId),
    seconds: nanos / NANOS_PER_SECOND,
    nanos: Number(nanos % NANOS_PER_SECOND),
    sequence: BigInt(anchor.sequence),
    message: utf8(anchor.message),
  });
  return { ...whole, anchor: { ...moved, runningHash: writeSha384(running) } };
}

const revokeEu = (sinceMs: number) => federation.revokeKey('eu', { compromisedSince: timestampOf(sinceMs) });

test('a record by a revoked key is valid exactly when its batch reached consensus before: to all verifiers alike', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: sealedMs, max: sealedMs + 10_000 }),
      fc.option(fc.bigInt({ min: -AROUND_NANOS, max: AROUND_NANOS }), { nil: null }),
      async (sinceMs, offset) => {
        const revocation = await revokeEu(sinceMs);
        const since = BigInt(sinceMs) * NANOS_PER_MS;
        const bundle = offset === null ? { ...whole, anchor: null } : anchoredAt(since + offset);
        const stands = offset !== null && offset < 0n;
        const carried = { ...bundle, revocations: [revocation] };
        const directory = new KeyDirectory(nativeSuite, () => chain);
        for (const signed of federation.certificates) directory.addCertificate(signed);
        directory.addRevocation(revocation);
        const known = { federation: { rosters: chain, keys: directory } };
        const verdicts = [
          verifyBundle(nativeSuite, carried, { pin: chain.genesis }),
          verifyBundle(nativeSuite, { ...bundle, revocations: [] }, { revocations: [revocation] }),
          judge(nativeSuite, openBundle(nativeSuite, bundle, known), []),
        ];
        for (const { verified, witnessed, checks, problems } of verdicts) {
          assert.is(checks.sigValid, stands);
          assert.is(verified, stands);
          assert.is(witnessed, stands);
          assert.equal([...new Set(problems.map(({ code }) => code))], stands ? [] : ['key-revoked']);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('the portable suite comes to the same at the boundary itself', async () => {
  const sinceMs = sealedMs + 5_000;
  const revocation = await revokeEu(sinceMs);
  const since = BigInt(sinceMs) * NANOS_PER_MS;
  for (const [offset, stands] of [
    [-1n, true],
    [0n, false],
    [1n, false],
  ] as const) {
    const { verified } = verifyBundle(nobleSuite, anchoredAt(since + offset), { revocations: [revocation] });
    assert.is(verified, stands);
  }
});

test('a cosignature has no consensus time: by a revoked key it counts for no batch, and voids none', async () => {
  const key = federation.member('us').key.signer.keyId;
  for (const ms of [0, sealedMs, sealedMs + 86_400_000]) {
    const revocation = await federation.revokeKey('us', { keyId: key, compromisedSince: timestampOf(ms) });
    const { verified, witnessed } = verifyBundle(nativeSuite, { ...whole, revocations: [revocation] });
    assert.equal([verified, witnessed], [true, true], 'jp still witnesses');
    const both = [revocation, await federation.revokeKey('jp', { compromisedSince: timestampOf(ms) })];
    const verdict = verifyBundle(nativeSuite, { ...whole, revocations: both });
    assert.equal([verdict.verified, verdict.witnessed], [true, false]);
  }
});

test('a revocation that the member’s identity key did not sign changes nothing', async () => {
  const real = await revokeEu(sealedMs);
  const { signature } = await federation.revokeKey('us');
  const forged = { statement: real.statement, signature };
  assert.ok(verifyBundle(nativeSuite, { ...whole, revocations: [] }, { revocations: [forged] }).verified);
});

test.run();
