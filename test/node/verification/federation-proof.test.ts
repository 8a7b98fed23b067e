import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { completeBundle } from '../../../node/verification/bundles.ts';
import type { Evidence } from '../../../node/verification/evidence.ts';
import { openRecord } from '../../../protocol/chain/record.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { checkpointStatement, type SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { proofIn, recordAt, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';

const THREE = ['us', 'eu', 'ca'] as const;
const FOUR = ['us', 'eu', 'ca', 'za'] as const;

/** Three rosters: of five members, with one more, and without one; a record under each. */
async function threeRosters() {
  const ledger = await Ledger.create();
  const { log } = ledger;
  const first = await ledger.record('eu');
  const underFirst = await checkpointsBy(ledger, ['us', 'ca', 'sg', 'jp']);
  await log.admit('za');
  ledger.enforce(ledger.draftRoster({ members: log.membersWith(['za']) }), ...THREE);
  const second = await ledger.record('za');
  ledger.enforce(ledger.draftRoster({ members: log.membersWith([], ['sg']) }), ...FOUR);
  const third = await ledger.record('jp');
  return { ledger, first, second, third, underFirst };
}

const { ledger, first, second, third, underFirst } = await threeRosters();
const { log } = ledger;
const newest = await checkpointsBy(
  ledger,
  log.roster().roster.members.map(({ node }) => node),
);

test('under the newest roster every record is proven, by its quorum and the majorities of those before it', async () => {
  for (const sealed of [first, second, third]) {
    const bundle = await bundleBy(newest, sealed);
    assert.is(bundle.rosters.length, 3);
    for (const { hash } of log.rosters) {
      const { word, restsOn, problems } = verifyBundle(nativeSuite, bundle, { pin: hash });
      assert.equal([word, problems], ['verified', []]);
      assert.ok((restsOn?.version ?? 0) >= log.rosters.findIndex((roster) => roster.hash === hash) + 1);
    }
    assert.is(new Set(sizesIn(bundle)).size, 1, 'one size serves all');
    assert.ok(bundle.checkpoints.length <= 5, 'no more than are needed, and one');
  }
});

test('where checkpoints reach no further than an older roster, the bundle carries the rosters up to that one', async () => {
  const bundle = await bundleBy(underFirst, first);
  assert.is(bundle.rosters.length, 1);
  const { word, restsOn } = verifyBundle(nativeSuite, bundle, { pin: log.genesis });
  assert.equal([word, restsOn?.version], ['verified', 1]);
});

test('where no majority shows a newer roster, witnesses are counted within the one before it', async () => {
  const few = (await checkpointsBy(ledger, ['us', 'za'])).concat(underFirst.filter(isNotOf('us')));
  const bundle = await bundleBy(few, first);
  assert.is(bundle.rosters.length, 1);
  assert.is(verifyBundle(nativeSuite, bundle, { pin: log.genesis }).word, 'verified');
});

test('what is shown by too few is given all the same, and is not verified', async () => {
  const bundle = await bundleBy(await checkpointsBy(ledger, ['us', 'ca']), third);
  assert.is(bundle.rosters.length, 3);
  assert.is(verifyBundle(nativeSuite, bundle, { pin: log.genesis }).word, 'too-few-checkpoints');
});

test('only the keys that signed something in it are certified', async () => {
  const { keys, checkpoints } = await bundleBy(newest, third);
  const signers = new Set(['jp', ...checkpoints.map(({ text }) => checkpointStatement.parse(text).node)]);
  assert.is(keys.length, signers.size);
});

/** The bundle that a node makes which counts these checkpoints. */
async function bundleBy(checkpoints: readonly SignedCheckpoint[], sealed: SealedBatch): Promise<Bundle> {
  await using node = await openNodeLog(ledger, checkpoints);
  return await completeBundle(node, evidenceOf(sealed));
}

function evidenceOf(sealed: SealedBatch): Evidence {
  const { head, body } = recordAt(sealed, 0);
  const { record, receipt, batch } = proofIn(sealed, 0);
  return {
    record: openRecord(nativeSuite, { head, body }),
    batch: { envelope: sealed.envelope, signed: sealed.signedEnvelope },
    proof: { record, receipt, batch },
    decision: decisionText.parse(log.decisions[log.indexOf(sealed) ?? -1] ?? ''),
    isHeld: true,
  };
}

function checkpointsBy(of: Ledger, nodes: readonly string[]): Promise<SignedCheckpoint[]> {
  return Promise.all(nodes.map((node) => of.log.checkpoint(node)));
}

function sizesIn({ checkpoints }: Bundle): readonly number[] {
  return checkpoints.map(({ text }) => checkpointStatement.parse(text).size);
}

function isNotOf(node: string): (signed: SignedCheckpoint) => boolean {
  return ({ text }) => checkpointStatement.parse(text).node !== node;
}

test.run();
