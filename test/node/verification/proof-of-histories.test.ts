import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { readCheckpoint } from '../../../node/log/known-checkpoint.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { majorityOf } from '../../../protocol/log/roster.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { HOME, versionDraft } from '../../fixtures/account-statement.ts';
import { type LogDraft, recordAt, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { type LogKey, newestKey } from '../../fixtures/federation-log-member.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { KnowingNode } from '../../fixtures/knowing-node.ts';
import { overrideOf } from '../../fixtures/linked-store.ts';
import { Random } from '../../fuzz/random.ts';
import { SEED } from '../../runner/seed.ts';

const HISTORIES = 30;
/** What happens in each. */
const STEPS = 24;
/** Records of each whose proofs are judged. */
const RECORDS = 4;
const NODES = ['us', HOME, 'ca', 'sg', 'jp', 'za', 'br'];
const MOST_AT_FIRST = 5;
/** How far before it a theft is said to reach at most, in milliseconds. */
const REACH_MS = 60_000;

interface KeyOf {
  readonly node: NodeId;
  readonly key: LogKey;
}

/**
 * What happens to a federation by chance. Its members do what members at work do: of each roster that is replaced a
 * majority signs, by the keys that it had there, a checkpoint that covers the decision.
 */
class History implements AsyncDisposable {
  readonly random: Random;
  readonly log: FederationLog;
  readonly node: KnowingNode;
  readonly sealed: SealedBatch[] = [];
  readonly #stolen: KeyOf[] = [];

  private constructor(random: Random, log: FederationLog, node: KnowingNode) {
    this.random = random;
    this.log = log;
    this.node = node;
  }

  static async begin(random: Random): Promise<History> {
    const count = 2 + random.int(MOST_AT_FIRST - 1);
    const log = await FederationLog.create({ nodes: NODES.slice(0, count), quorum: 1 + random.int(count - 1) });
    return new History(random, log, await KnowingNode.open(log));
  }

  async goOn(): Promise<void> {
    const { random } = this;
    const steps = [this.#record, this.#record, this.#record, this.#sign, this.#sign, this.#sign];
    await random.pick([...steps, this.#changeRoster, this.#rotate, this.#steal, this.#steal, this.#misuse]).call(this);
  }

  /** Every member signs what was decided so far, some a decision later than others. */
  async settle(): Promise<void> {
    for (const { node } of shuffled(this.random, this.log.roster().roster.members)) {
      if (this.random.chance(0.7)) await this.#record();
      await this.node.learn(node);
    }
    await this.#misuse();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.node[Symbol.asyncDispose]();
  }

  get #members(): readonly NodeId[] {
    return this.log.roster().roster.members.map(({ node }) => node);
  }

  async #record(): Promise<void> {
    this.sealed.push(await this.log.record(this.random.pick(this.#members), [this.#draft()]));
  }

  #draft(): LogDraft {
    const { random, sealed } = this;
    if (sealed.length > 0 && random.chance(0.5)) return overrideOf(recordAt(random.pick(sealed), 0).id, 'a');
    if (random.chance(0.3)) return versionDraft(1 + sealed.length, [random.pick(this.#members)]);
    return {};
  }

  async #sign(): Promise<void> {
    if (this.log.size > 0) await this.node.learn(this.random.pick(this.#members));
  }

  /** Somebody is added or comes back, is removed, or goes on by another identity key. */
  async #changeRoster(): Promise<void> {
    const { log, random } = this;
    const members = this.#members;
    const majority = majorityOf(log.roster().roster);
    const payer = log.account(random.pick(members));
    const before = members.map((node): KeyOf => ({ node, key: newestKey(log.member(node)) }));
    const removed = members.length > 2 ? members.filter(() => random.chance(0.2)).slice(0, members.length - 2) : [];
    const renewed = members.filter((node) => !removed.includes(node) && random.chance(0.2));
    const [added] = shuffled(
      random,
      NODES.filter((node) => !members.some((member) => member === node)),
    );
    const admitted = added !== undefined && random.chance(0.5) ? [added] : [];
    for (const node of renewed) await log.readmit(node);
    for (const node of admitted) await (log.members.has(node) ? log.readmit(node) : log.admit(node));
    const next = log.membersWith([...renewed, ...admitted], [...renewed, ...removed]);
    log.addRoster({ members: next, quorum: 1 + random.int(next.length - 1) }, { payer });
    await this.node.learn();
    for (const [i, one] of shuffled(random, before).entries()) {
      if (i < majority || random.chance(0.5)) await this.#signBy(one);
    }
  }

  async #rotate(): Promise<void> {
    const node = this.random.pick(this.#members);
    if (this.random.chance(0.5)) await this.log.revoke(node);
    await this.log.rotateKey(node);
  }

  /** A key is stolen, now or before it was changed, and is revoked. */
  async #steal(): Promise<void> {
    const { log, random } = this;
    const { node, keys } = log.member(random.pick(this.#members));
    const key = random.pick(keys);
    const compromisedSince = timestampOf(log.now - (random.chance(0.5) ? 0 : random.int(REACH_MS)));
    await log.revoke(node, { keyId: key.signer.keyId, reason: 'compromised', compromisedSince });
    this.#stolen.push({ node, key });
    await log.rotateKey(node);
  }

  async #misuse(): Promise<void> {
    if (this.#stolen.length > 0) await this.#signBy(this.random.pick(this.#stolen));
  }

  async #signBy({ node, key }: KeyOf): Promise<void> {
    await this.node.learn();
    await this.node.checkpointStore.learn(readCheckpoint(await this.log.checkpoint(node, {}, key)));
  }
}

function shuffled<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  const keyed = items.map((item) => ({ item, place: random.next() }));
  return keyed.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}

/** Of the linked records whether they hold and speak, and what they come to. */
function saidOf({ linked, evidence }: Verdict) {
  return { linked: linked.map(({ holds, speaks }) => [holds, speaks]), flags: evidence?.complianceStatus };
}

test('what a node says is verified, its bundle shows to whoever pinned any roster, whatever happened before', async () => {
  let verified = 0;
  for (let history = 0; history < HISTORIES; history++) {
    const random = new Random(SEED + history);
    await using made = await History.begin(random);
    for (let step = 0; step < STEPS; step++) await made.goOn();
    await made.settle();
    const { node, log, sealed } = made;
    for (const one of shuffled(random, sealed).slice(0, RECORDS)) {
      const others = sealed.filter((other) => other !== one && random.chance(0.3));
      const bundles: readonly Bundle[] = [await node.bundleOf(one, others), await node.packedBundleOf(one)];
      for (const bundle of bundles) {
        const own = await node.judge(bundle);
        if (!own.verified) continue;
        verified++;
        for (const { hash, roster } of log.rosters) {
          const offline = verifyBundle(nativeSuite, bundle, { pin: hash });
          const where = `history ${history}, roster ${roster.version} of ${log.rosters.length}`;
          assert.equal([offline.word, offline.problems], ['verified', []], where);
          assert.equal(saidOf(offline), saidOf(own), where);
        }
      }
    }
  }
  assert.ok(verified > HISTORIES, `${verified} bundles`);
});

test.run();
