import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { readCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { recordAt } from '../../fixtures/federation-log-batch.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { KnowingNode } from '../../fixtures/knowing-node.ts';
import { reviewer } from '../../protocol/evidence/case.ts';

test('after removals, rotations and thefts a node still gives a bundle that whoever pinned the genesis believes', async () => {
  const log = await FederationLog.create({ nodes: ['eu', 'us', 'jp', 'ca', 'sg'], quorum: 2 });
  const sealed = await log.record('eu');
  await using node = await KnowingNode.open(log);
  await node.learn('eu', 'us', 'jp', 'ca', 'sg');
  log.addRoster({ members: log.membersWith([], ['us', 'jp']), quorum: 1 });
  // The removed ones are gone without a word, and of those that stay `ca` alone makes the majority of the genesis.
  await node.learn('eu', 'ca', 'sg');
  log.addRoster({ members: log.membersWith([], ['ca']) });
  await log.revoke('ca');
  for (let stolen = 0; stolen < 2; stolen++) {
    await log.rotateKey('ca');
    await log.record('sg');
    await node.learn('eu', 'ca', 'sg');
  }
  for (const { signer } of log.member('ca').keys.slice(1)) {
    await log.revoke('ca', { keyId: signer.keyId, reason: 'compromised', compromisedSince: log.tick() });
  }
  await node.learn('eu', 'sg');
  for (let restart = 0; restart < 2; restart++) {
    assertVerified(log, await node.bundleOf(sealed));
    await node.restart();
  }
});

test('after members rejoined by other identity keys a bundle is believed by whoever pinned a roster before', async () => {
  const log = await FederationLog.create({ nodes: ['us', 'eu', 'ca'], quorum: 2 });
  const sealed = await log.record('us');
  await using node = await KnowingNode.open(log);
  await node.learn('us', 'eu', 'ca');
  for (const who of ['eu', 'ca']) {
    log.addRoster({ members: log.membersWith([], [who]), quorum: 1 }, { payer: log.account('us') });
    await node.learn('us', 'eu', 'ca');
    const stolen = newestKey(log.member(who)).signer;
    await log.readmit(who);
    log.addRoster({ members: log.membersWith([who]), quorum: 2 }, { payer: log.account('us') });
    const compromisedSince = log.tick();
    await log.revoke(who, { keyId: stolen.keyId, reason: 'compromised', compromisedSince });
    await node.learn('us', 'eu', 'ca');
  }
  await log.record('us');
  await node.learn('us', 'eu', 'ca');
  for (let restart = 0; restart < 2; restart++) {
    assertVerified(log, await node.bundleOf(sealed));
    await node.restart();
  }
});

test('whoever pinned the newest roster believes bundle and pack, where its majority is more than its quorum', async () => {
  for (const [nodes, added, quorum] of [
    [['us', 'eu', 'ca'], ['sg'], 1],
    [['us', 'eu', 'ca', 'sg', 'jp'], ['za', 'br'], 2],
    [['us', 'eu', 'ca', 'sg', 'jp'], ['za', 'br', 'in'], 3],
  ] as const) {
    const log = await FederationLog.create({ nodes, quorum });
    const old = await log.record('eu');
    for (const node of added) await log.admit(node);
    log.addRoster({ members: log.membersWith(added) });
    const young = await log.record('eu');
    await using node = await KnowingNode.open(log);
    await node.learn(...nodes, ...added);
    for (const sealed of [old, young]) {
      assertVerified(log, await node.bundleOf(sealed));
      assertVerified(log, await node.packedBundleOf(sealed));
    }
  }
});

test('rosters are carried also where their majority signed by keys that were stolen later', async () => {
  const nodes = ['eu', 'us', 'jp', 'ca', 'sg'];
  const removed = nodes.slice(1, 4);
  const log = await FederationLog.create({ nodes, quorum: 1 });
  const sealed = await log.record('eu');
  log.addRoster({ members: log.membersWith([], removed) });
  await using node = await KnowingNode.open(log);
  await node.learn(...nodes);
  for (const member of removed) await log.revoke(member, { reason: 'compromised', compromisedSince: log.tick() });
  await node.learn('eu', 'sg');
  assertVerified(log, await node.bundleOf(sealed));
});

test('a review that stands by a key that was stolen later stands also in the bundle of its record', async () => {
  const nodes = ['us', 'eu', 'ca', 'sg', 'jp'];
  const log = await FederationLog.create({ nodes, quorum: 3 });
  const account = 'acc_eu_demo';
  const sealed = await log.record('eu', [{ account }]);
  log.addRoster({ name: 'moved' });
  await using node = await KnowingNode.open(log);
  // For the roster that was replaced checkpoints are kept that do not cover the review.
  await node.learn(...nodes);
  const original = recordAt(sealed, 0).id;
  const claims = { reviewer: reviewer('a') };
  const review = await log.record('eu', [{ kind: 'human_override', account, links: { original }, claims }]);
  log.tick(60_000);
  await log.revoke('eu', { reason: 'compromised', compromisedSince: log.tick() });
  await log.rotateKey('eu');
  // Members are a decision apart, as they are at work, and `eu` is the last.
  for (const member of ['us', 'ca', 'sg', 'jp', 'eu']) {
    await log.record('us');
    await node.learn(member);
  }
  const bundle = await node.bundleOf(sealed, [review]);
  for (const verdict of [await node.judge(bundle), verifyBundle(nativeSuite, bundle, { pin: log.genesis })]) {
    assert.is(verdict.word, 'verified');
    assert.equal(verdict.linked[0]?.problems, []);
    assert.is(verdict.evidence?.complianceStatus.article14, true);
  }
});

test('checkpoints by stolen keys take no place in a bundle of those by the keys that came after', async () => {
  const log = await FederationLog.create({ nodes: ['eu', 'us', 'jp', 'ca', 'sg'], quorum: 3 });
  const sealed = await log.record('eu');
  const stolen = ['jp', 'ca'].map((node) => ({ node, key: newestKey(log.member(node)) }));
  for (const { node, key } of stolen) {
    await log.revoke(node, { keyId: key.signer.keyId, reason: 'compromised', compromisedSince: log.tick() });
    await log.rotateKey(node);
  }
  await using node = await KnowingNode.open(log);
  await node.learn('us');
  // Whoever holds the old keys signs what `us` has signed, so that three are of one size.
  for (const { node: member, key } of stolen) {
    await node.checkpointStore.learn(readCheckpoint(await log.checkpoint(member, {}, key)));
  }
  // Members are a decision apart, as they are at work.
  for (const member of ['sg', 'jp', 'ca']) {
    await log.record('us');
    await node.learn(member);
  }
  const { word, problems } = verifyBundle(nativeSuite, await node.bundleOf(sealed), { pin: log.genesis });
  assert.equal([word, problems], ['verified', []]);
});

test('a revocation that was decided first is carried by its own text, though others of the key reach further back', async () => {
  const log = await FederationLog.create({ nodes: ['eu', 'us', 'jp'], quorum: 1 });
  const sealed = await log.record('eu');
  const decided = await log.revoke('eu');
  await using node = await KnowingNode.open(log);
  await node.learn('eu', 'us', 'jp');
  // Signed, and never decided.
  const compromised = { ...decided.revocation, reason: 'compromised' as const, compromisedSince: timestampOf(0) };
  await node.keys.learnRevocation(await signStatement(revocationStatement, compromised, log.member('eu').identity));
  const bundle = await node.bundleOf(sealed);
  assert.equal(
    bundle.revocations.map(({ statement }) => statement),
    [decided.signed.statement],
  );
  assert.is(verifyBundle(nativeSuite, bundle, { pin: log.genesis }).word, 'verified');
});

test('revocations that are handed over count for a bundle that is older than the rosters they were decided under', async () => {
  const log = await FederationLog.create({ nodes: ['eu', 'us', 'jp', 'ca', 'sg'], quorum: 2 });
  const sealed = await log.record('eu');
  await using node = await KnowingNode.open(log);
  await node.learn('eu', 'us', 'jp', 'ca', 'sg');
  const bundle = await node.bundleOf(sealed);
  for (const member of ['za', 'br', 'in']) await log.admit(member);
  log.addRoster({ members: log.membersWith(['za', 'br', 'in'], ['jp']) });
  const compromisedSince = timestampOf(log.now - 3_600_000);
  await log.revoke('eu', { reason: 'compromised', compromisedSince });
  // The witnesses of the newest roster are others than those that the bundle knows.
  await node.learn('za', 'br', 'in');
  await log.record('us');
  await node.learn('us', 'ca');
  const revocations = await node.revocationsFile();
  assert.is(verifyBundle(nativeSuite, bundle, { pin: log.genesis }).word, 'verified');
  assert.is(verifyBundle(nativeSuite, bundle, { pin: log.genesis, revocations }).word, 'contradicted');
});

test('a revocation that too few members show by now is not handed over', async () => {
  const log = await FederationLog.create({ nodes: ['eu', 'us', 'jp', 'ca'], quorum: 2 });
  await using node = await KnowingNode.open(log);
  await log.revoke('eu', { reason: 'compromised', compromisedSince: log.tick() });
  await node.learn('us');
  assert.equal(await node.revocationsFile(), { revocations: [], checkpoints: [], keys: [] });
  await node.learn('jp');
  assert.equal((await node.revocationsFile()).revocations.length, 1);
});

/** The bundle is verified by whoever pinned any roster of the federation. */
function assertVerified({ rosters }: FederationLog, bundle: Bundle): void {
  for (const { hash } of rosters) {
    const { word, problems } = verifyBundle(nativeSuite, bundle, { pin: hash });
    assert.equal([word, problems], ['verified', []]);
  }
}

test.run();
