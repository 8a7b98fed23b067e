import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountSpeakers } from '../../../node/governance/account-records.ts';
import { readRecord } from '../../../node/records/record-reader.ts';
import { AccountVersions } from '../../../node/verification/account-versions.ts';
import { completeBundle } from '../../../node/verification/bundles.ts';
import { type EvidenceSources, readEvidence } from '../../../node/verification/evidence.ts';
import { LinkedReader } from '../../../node/verification/linked-evidence.ts';
import { MAX_ELSEWHERE } from '../../../node/verification/linked-records.ts';
import { ProofTrees } from '../../../node/verification/proof-trees.ts';
import { openRecord } from '../../../protocol/chain/record.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { HOME, HOME_ACCOUNT as ACCOUNT, versionDraft } from '../../fixtures/account-statement.ts';
import { type LogDraft, recordAt, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { incidentAbout, keepBatch, overrideOf, startVerifier } from '../../fixtures/linked-store.ts';
import { type NodeLog, openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';

/** A store with batches of several nodes, in the order in which they were decided. */
class Store {
  readonly ledger: Ledger;
  readonly batches: SealedBatch[] = [];

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  async record(node: string, ...drafts: readonly LogDraft[]): Promise<RecordId> {
    const sealed = await this.ledger.record(node, drafts);
    this.batches.push(sealed);
    return recordAt(sealed, 0).id;
  }

  /** A node that holds all of it and counts the checkpoints of every member; of some over an older log, by its size. */
  async open(sizes: Readonly<Record<string, number>> = {}): Promise<NodeLog> {
    const { log } = this.ledger;
    const members = log.roster().roster.members.map(({ node }) => node);
    const signed = members.map((member) => log.checkpoint(member, { size: sizes[member] ?? log.size }));
    const node = await openNodeLog(this.ledger, await Promise.all(signed));
    for (const sealed of this.batches) await keepBatch(node.store, sealed);
    return node;
  }
}

function sourcesOf({ store, knowledge }: NodeLog): EvidenceSources {
  return { store, trees: new ProofTrees(), decisionOf: (node, batch) => knowledge.decisionOf(node, batch) };
}

/** What a node answers of a record, and what its bundle shows with no network. */
async function bothOn(node: NodeLog, id: RecordId) {
  const found = await startVerifier({ node }).verifier.verifyRecord(id);
  const sources = sourcesOf(node);
  const evidence = await readEvidence(sources, id);
  if (found === undefined || evidence === undefined) throw new Error(`${id} is not there`);
  const linked = await new LinkedReader({ sources, log: pino({ level: 'silent' }) }).read(evidence);
  const bundle = await completeBundle(node, evidence, { linked: [...linked.evidence, ...linked.statements] });
  const offline = verifyBundle(nobleSuite, bundle, { pin: node.keys.rosters.genesis });
  return { found, offline, linked };
}

function flagsOf({ evidence, speaks, accountStatements }: Pick<Verdict, 'accountStatements' | 'evidence' | 'speaks'>) {
  if (evidence === null) throw new Error('the body is carried');
  const { evaluatedAt: _, ...detail } = evidence.complianceDetail;
  const { evaluatedAt: __, ...facts } = evidence.evidence;
  return { complianceStatus: evidence.complianceStatus, detail, facts, speaks, versions: accountStatements };
}

async function lived() {
  const store = new Store(await Ledger.create());
  const subject = await store.record(HOME, { account: ACCOUNT });
  const early = await store.record('us', overrideOf(subject, 'a'));
  const first = await store.record(HOME, versionDraft(1, ['eu', 'us']));
  const named = await store.record('us', overrideOf(subject, 'b'), overrideOf(subject, 'c'), incidentAbout(subject));
  const second = await store.record(HOME, versionDraft(2, ['eu', 'sg']));
  const late = await store.record('us', overrideOf(subject, 'd'));
  return { store, subject, early, first, named, second, late };
}

const made = await lived();
const node = await made.store.open();
test.after(() => node[Symbol.asyncDispose]());

test('a node and a bundle with no network say the same of who speaks, of each record of the account', async () => {
  for (const id of [made.subject, made.early, made.named, made.late]) {
    const { found, offline } = await bothOn(node, id);
    assert.equal([found.verdict.word, offline.word], ['verified', 'verified']);
    assert.equal(flagsOf(found.verdict), flagsOf(offline), id);
    const told = new Map(found.verdict.linked.map((one) => [one.id, [one.speaks, one.accountStatement]]));
    for (const one of offline.linked) assert.equal(told.get(one.id), [one.speaks, one.accountStatement]);
  }
});

test('of a record that was made elsewhere the version before it is found, though nothing links to it', async () => {
  const said = [];
  for (const id of [made.early, made.named, made.late]) {
    const { speaks, accountStatements } = (await bothOn(node, id)).found.verdict;
    said.push([speaks, accountStatements.map(({ version }) => version)]);
  }
  assert.equal(said, [
    [false, []],
    [true, [1]],
    [false, [2]],
  ]);
});

test('a bundle proves where the version and the review stand, also where most checkpoints cover the record alone', async () => {
  const store = new Store(await Ledger.create({ nodes: ['eu', 'us', 'ca', 'sg', 'jp', 'za', 'br', 'in'], quorum: 3 }));
  const subject = await store.record(HOME, { account: ACCOUNT });
  await store.record(HOME, versionDraft(1, ['eu', 'us']));
  await store.record('us', overrideOf(subject, 'a'));
  await using behind = await store.open({ eu: 1, ca: 1, sg: 1, jp: 1, za: 1 });
  const { found, offline } = await bothOn(behind, subject);
  assert.equal(
    [found.verdict.word, offline.word, offline.evidence?.complianceStatus.article14],
    ['verified', 'verified', true],
  );
  assert.equal(flagsOf(offline), flagsOf(found.verdict));
});

test('reviews by a node while the statement named it count; others are named with the node that says so', async () => {
  const { found, offline } = await bothOn(node, made.subject);
  const { links, verdict } = found;
  assert.equal([links.overrides, links.incidents, links.truncated], [2, 1, false]);
  assert.equal(links.others, [
    { id: made.early, kind: 'human_override', node: 'us' },
    { id: made.late, kind: 'human_override', node: 'us' },
  ]);
  assert.not(links.ids.includes(made.first));
  assert.equal(verdict.accountStatements, [
    { version: 2, id: made.second },
    { version: 1, id: made.first },
  ]);
  assert.ok(offline.evidence?.complianceDetail.article14_5);
});

test('what rests on a version is read no more once the version is not there, and said to be missing', async () => {
  const store = new Store(made.store.ledger);
  store.batches.push(...made.store.batches.filter((sealed) => recordAt(sealed, 0).id !== made.second));
  await using partial = await store.open();
  const { found } = await bothOn(partial, made.subject);
  // A version that a node has not got yet says nothing there: the one before it decides, and is named.
  assert.equal([found.links.overrides, found.verdict.accountStatements.map(({ version }) => version)], [3, [1]]);
});

test('where the home made all, no version is looked for', async () => {
  const store = new Store(await Ledger.create());
  const subject = await store.record(HOME, { account: ACCOUNT });
  await store.record(HOME, versionDraft(1, ['eu', 'us']));
  await store.record(HOME, overrideOf(subject, 'a'));
  await using alone = await store.open();
  const started = startVerifier({ node: alone });
  const found = await started.verifier.verifyRecord(subject);
  assert.equal([found?.links.overrides, found?.verdict.accountStatements], [1, []]);
  assert.is(started.ranges('account-record'), 0);
});

test('a flood by a member outside the statement hides neither the home’s review nor those of a named node', async () => {
  const store = new Store(await Ledger.create());
  const subject = await store.record(HOME, { account: ACCOUNT });
  await store.record(HOME, versionDraft(1, ['eu', 'us']));
  await store.record('ca', ...Array.from({ length: 300 }, () => overrideOf(subject, 'liar')));
  const home = await store.record(HOME, overrideOf(subject, 'a'));
  const pair = await store.record('us', overrideOf(subject, 'b'), overrideOf(subject, 'c'));
  await using flooded = await store.open();
  const { found, offline, linked } = await bothOn(flooded, subject);
  const { links } = found;
  assert.equal([links.overrides, links.truncated], [3, true]);
  assert.ok(links.ids.includes(home) && links.ids.includes(pair));
  assert.ok(links.others.length > 0 && links.others.every((other) => other.node === 'ca'));
  assert.ok(linked.evidence.length <= MAX_ELSEWHERE + 1);
  assert.equal(flagsOf(offline), flagsOf(found.verdict));
  assert.ok(offline.evidence?.complianceDetail.article14_5);
});

test('the version before any place in the log is the one that a look at all of them finds', async () => {
  const ledger = await Ledger.create({ nodes: ['eu', 'us', 'ca'] });
  const store = new Store(ledger);
  const places: { readonly id: RecordId; readonly index: number }[] = [];
  for (let i = 0; i < 24; i++) {
    if (i % 3 === 1) await store.record('us', {});
    const isVersion = i % 4 !== 0;
    const id = await store.record(HOME, ...(isVersion ? [versionDraft(i, ['eu'])] : [{}, {}]));
    if (isVersion) places.push({ id, index: ledger.log.size - 1 });
  }
  const open = await ledger.log.seal(HOME, [versionDraft(99, ['eu'])]);
  await using searched = await store.open();
  await keepBatch(searched.store, open);
  let asked = 0;
  const versions = new AccountVersions({
    store: searched.store,
    decisionOf: (of, batch) => {
      asked++;
      return searched.knowledge.decisionOf(of, batch);
    },
  });
  for (let place = 0; place <= ledger.log.size; place++) {
    const expected = places.findLast(({ index }) => index < place);
    asked = 0;
    assert.equal(await versions.newestBefore(ACCOUNT, place), expected, `before ${place}`);
    assert.ok(asked <= 2 + Math.ceil(Math.log2(26)), `${asked} decisions looked at`);
  }
  assert.equal(await versions.newestBefore(ACCOUNT, null), places.at(-1), 'one that is not decided is none yet');
  assert.is(await versions.newestBefore('acc_eu_other', null), undefined);
  assert.is(await versions.newestBefore('x402:payers', null), undefined);
});

test('what a node counts of other nodes’ records is what speaks for the account', async () => {
  const { store, knowledge } = node;
  const versions = new AccountVersions({ store, decisionOf: (of, batch) => knowledge.decisionOf(of, batch) });
  const speakers = new AccountSpeakers(store, versions);
  const records = await Promise.all([made.early, made.named, made.late, made.first].map((id) => readRecord(store, id)));
  const all = records.flatMap((found) => found?.record ?? []);
  assert.equal(
    (await speakers.speaking(ACCOUNT, all)).map(({ id }) => id),
    [made.named, made.first],
  );
  assert.equal(await speakers.speaking('acc_eu_other', all), []);
  // One that has no batch yet is judged by the newest version, which does not name its node any more.
  const { ledger } = made.store;
  const young = recordAt(await ledger.log.seal('us', [overrideOf(made.subject, 'e')]), 0);
  const ofNew = recordAt(await ledger.log.seal('sg', [overrideOf(made.subject, 'f')]), 0);
  const unsealed = [young, ofNew].map((texts) => openRecord(nobleSuite, texts));
  assert.equal(
    (await speakers.speaking(ACCOUNT, unsealed)).map((one) => one.node),
    ['sg'],
  );
});

test.run();
