import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FederationKeys } from '../../../node/log/members/federation-keys.ts';
import type { RosterSource } from '../../../node/log/members/current-rosters.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { CheckpointStore } from '../../../node/log/checkpoint-store.ts';
import { readCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { checkpointStands } from '../../../node/log/checkpoint-standing.ts';
import { logRosters } from '../../../node/log/log-rosters.ts';
import type { Store } from '../../../node/store/store.ts';
import { completeBundle } from '../../../node/verification/bundles.ts';
import { LogKnowledge, type LogSources } from '../../../node/verification/log-knowledge.ts';
import { openRecord } from '../../../protocol/chain/record.ts';
import { hashBytes, hashText } from '../../../protocol/hash.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import type { DecisionState } from '../../../protocol/log/decision-state.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { initialState, withRevocation, withRoster } from '../../../protocol/log/in-force.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { parseBundle } from '../../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { proofIn, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { LogStore } from '../log/log-store.ts';

type Knowledge = Pick<KnowingNode, 'checkpointStore' | 'keys'>;

/** What one node knows of a federation: its keys, revocations and checkpoints, on a store that can be opened again. */
class KnowingNode implements AsyncDisposable {
  readonly log: FederationLog;
  readonly #disk: LogStore;
  keys: FederationKeys;
  checkpointStore: CheckpointStore;

  private constructor(log: FederationLog, disk: LogStore, { keys, checkpointStore }: Knowledge) {
    this.log = log;
    this.#disk = disk;
    this.keys = keys;
    this.checkpointStore = checkpointStore;
  }

  static async open(log: FederationLog): Promise<KnowingNode> {
    const disk = await LogStore.open();
    return new KnowingNode(log, disk, await openOn(disk.store, log));
  }

  async restart(): Promise<void> {
    const { keys, checkpointStore } = await openOn(await this.#disk.reopen(), this.log);
    this.keys = keys;
    this.checkpointStore = checkpointStore;
  }

  /**
   * Learns all certificates and revocations that there are, and the checkpoints of these members over the log as it is.
   */
  async learn(...nodes: readonly string[]): Promise<void> {
    for (const signed of this.log.certificates) await this.keys.learnCertificate(signed);
    for (const { signed } of this.log.revocations) await this.keys.learnRevocation(signed);
    for (const node of nodes) {
      assert.is(await this.checkpointStore.learn(readCheckpoint(await this.log.checkpoint(node))), 'counted');
    }
    await this.checkpointStore.reconsider();
  }

  async bundleOf(sealed: SealedBatch) {
    const { log, keys, checkpointStore } = this;
    const sources: LogSources = { federationLog: viewOf(log), checkpointStore: checkpointStore, keys };
    const proof = proofIn(sealed, 0);
    const decision = decisionText.parse(log.decisions[log.indexOf(sealed) ?? -1] ?? '');
    const { head, body } = proof.record;
    if (body === null) throw new Error('the record is whole');
    const evidence = {
      record: openRecord(nativeSuite, { head, body }),
      batch: { envelope: sealed.envelope, signed: sealed.signedEnvelope },
      proof,
      decision,
      isHeld: true,
    };
    return parseBundle(await completeBundle({ ...sources, knowledge: new LogKnowledge(sources) }, evidence));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#disk[Symbol.asyncDispose]();
  }
}

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
    const bundle = await node.bundleOf(sealed);
    for (const { hash } of log.rosters) {
      const { word, problems } = verifyBundle(nativeSuite, bundle, { pin: hash });
      assert.equal(problems, []);
      assert.is(word, 'verified');
    }
    await node.restart();
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

async function openOn(store: Store, log: FederationLog): Promise<Knowledge> {
  const { text, roster: genesis } = log.roster(1);
  const signatures = await Promise.all(
    genesis.members.map(async ({ node }) => {
      const { signature } = await signStatement(rosterStatement, genesis, log.member(node).identity);
      return { node, signature };
    }),
  );
  const view = viewOf(log);
  const given = RosterChain.open(nativeSuite, { genesis: { statement: text, signatures }, later: [] });
  const keys = await FederationKeys.open(store, view, given);
  const checkpointStore = await CheckpointStore.open(store, view, {
    rosters: () => logRosters(stateOf(log), { rosters: log.rosters.map(({ roster }) => roster) }),
    stands: (checkpoint) => checkpointStands(keys, stateOf(log), checkpoint),
  });
  return { keys, checkpointStore };
}

/** The log of the federation, in the form that a node asks its own in. */
function viewOf(log: FederationLog): LogSources['federationLog'] & RosterSource {
  return {
    get size() {
      return log.size;
    },
    get state() {
      return stateOf(log);
    },
    entry: async (index) => log.decisions[index],
    rootAt: async (size) => log.rootAt(size),
    pathAt: async (index, size) => (log.decisionProof(index, [size]).paths[0]?.path ?? []).map(hashBytes),
    rosterText: async (hash) => log.rosters.find((roster) => roster.hash === hash)?.text,
    decisionOf: async () => undefined,
    keepRoster: async () => log.genesis,
  };
}

function stateOf(log: FederationLog): DecisionState {
  let state = initialState(nativeSuite, log.roster(1).text);
  for (const { roster, hash, index } of log.rosters.slice(1)) {
    state = withRoster(nativeSuite, state, roster, { hash, index });
  }
  for (const {
    revocation: { node, keyId },
    signed,
    index,
  } of log.revocations) {
    const statement = hashText(nativeSuite, signed.statement);
    const { consensusTimestamp } = decisionText.parse(log.decisions[index] ?? '');
    state = withRevocation(state, { node, keyId, statement }, index, consensusTimestamp);
  }
  return state;
}

test.run();
