import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeItem } from '../../../node/federation/page-forms.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { PeerFault } from '../../../protocol/api/peer-faults.ts';
import { hashText } from '../../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { rosterCommand } from '../../../scripts/roster/command.ts';
import { Flood, type FloodKind } from '../../fixtures/flood.ts';
import { Liar, type LiarPlace, type Page } from '../../fixtures/liar.ts';
import { LiedTo } from '../../fixtures/lied-to.ts';
import { randomHash } from '../../fixtures/random-hash.ts';
import { until } from '../../fixtures/until.ts';

const EU = nodeId('eu');
const SG = nodeId('sg');
const JP = nodeId('jp');
const HOUR_MS = 3_600_000;
/** How long the others' service is measured, in calm and under each flood. In milliseconds. */
const MEASURED_MS = 2_500;
/** What a batch may take to every honest node and back, on a loaded machine and under a flood. In milliseconds. */
const SERVICE_MS = 10_000;
/** Far above any honest frame, message and answer. In bytes. */
const MONSTROUS = 2 << 20;

const federation = await LiedTo.start(SG);
const { cluster, honest } = federation;
const rosters = RosterChain.open(nativeSuite, parseRosterFile(await readFile(cluster.rosterFile, 'utf8')));
let liar = await Liar.start(placeOf(SG), rosters);
await meshed();
/** What `sg` sealed while it was honest, as `us` serves it: one batch of one record. */
const [sealed, group, record] = await liar.chainAt('us', SG);
if (sealed?.kind !== 'envelope' || group?.kind !== 'group' || record?.kind !== 'records') throw new Error('no batch');
const envelope = envelopeStatement.parse(sealed.signed.statement);
const honestHash = hashText(nativeSuite, sealed.signed.statement);
/** The batch that it announces, and never shows a body of. */
const announced = await next();

test.after(async () => {
  await liar[Symbol.asyncDispose]();
  await federation[Symbol.asyncDispose]();
});

function placeOf(id: NodeId): LiarPlace {
  return { id, home: cluster.nodeHome(id), listen: cluster.node(id).peerAddress };
}

function meshed(): Promise<void> {
  return until('the liar to be meshed', () =>
    liar.transport.peers().every(({ subscribed }) => subscribed.length === 3),
  );
}

/** The liar comes back and serves this; anyone who distrusts it asks it again. */
async function reborn(serve: Page = () => []): Promise<void> {
  await liar[Symbol.asyncDispose]();
  liar = await Liar.start(placeOf(SG), rosters);
  liar.serve = serve;
  await meshed();
}

/** Acts, waits until these nodes have caught a member once more, and prints the time that took. */
async function caught(
  what: string,
  fault: PeerFault,
  act: () => Promise<unknown>,
  by = federation.honest,
  member = SG,
): Promise<void> {
  const counts = () => Promise.all(by.map((node) => federation.faults(node, member, fault)));
  const before = await counts();
  const began = performance.now();
  const acted = act();
  await until(`all to note ${fault}`, async () => (await counts()).every((count, i) => count > (before[i] ?? 0)));
  console.log(`${what}: ${fault}, noted by ${by.length} nodes after ${(performance.now() - began).toFixed(0)} ms`);
  await acted;
}

/** Signs an envelope that would follow the honest one, but for the change. */
function next(change: Partial<Envelope> = {}): Promise<SignedStatement> {
  const { batch, first, size } = envelope;
  const sealedAt = timestampOf(Date.now());
  return liar.sign(envelope, { batch: batch + 1, first: first + size, prev: honestHash, sealedAt, ...change });
}

/** Says again, in another way, that it holds the next batch: gossip does not take the same message twice. */
function claimNext(): Promise<number> {
  liar.status = { ...liar.status, heads: [{ node: SG, batch: 2, envelope: randomHash() }] };
  return liar.ring();
}

/**
 * The chain of `sg` did not move, nobody vouches for anything more of it, nobody else is blamed, and the others are
 * meshed.
 */
async function assertContained(): Promise<void> {
  for (const node of honest) {
    const { members, vouched, faults } = await federation.view(node);
    const seen = members.get(SG);
    assert.equal([seen?.batch, seen?.envelope], [1, honestHash], node);
    assert.ok((vouched.get(SG) ?? 0) <= 1, node);
    assert.equal(
      [...faults.keys()].filter((fault) => !fault.startsWith(`${SG}/`)),
      [],
      `${node} blames others`,
    );
  }
  assert.ok(await federation.isMeshed());
}

test('a body that is announced and withheld', async () => {
  await caught('withheld body', 'withheld', () => liar.publish({ type: 'envelope', signed: announced }));
  await assertContained();
});

test('a wrong body: records that are not those signed', async () => {
  const claim = { ...groupStatement.parse(group.signed.statement), first: 2, root: randomHash() };
  const signed = await signStatement(groupStatement, claim, liar.signer);
  const records = record.records.map(({ head, body }) => ({ head: head.replace('"seq":1', '"seq":2'), body }));
  await reborn(() => [
    encodeItem({ kind: 'envelope', signed: announced }),
    encodeItem({ kind: 'group', signed }),
    encodeItem({ kind: 'records', records }),
  ]);
  await caught('wrong body', 'forged', claimNext);
  await assertContained();
});

test('another node’s data as an answer to catch-up', async () => {
  await federation.serve(0, SERVICE_MS);
  const foreign = (await liar.chainAt(EU, EU)).map(encodeItem);
  await reborn(() => foreign);
  await caught('another node’s data', 'malformed', claimNext);
  await assertContained();
});

test('batches that are dated falsely', async () => {
  const before = await next({ batch: 3, sealedAt: timestampOf(Date.now() - HOUR_MS) });
  await caught('dated an hour back', 'misdated', () => liar.publish({ type: 'envelope', signed: before }));
  const ahead = await next({ batch: 4, sealedAt: timestampOf(Date.now() + HOUR_MS) });
  await caught('dated an hour ahead', 'misdated', () => liar.publish({ type: 'envelope', signed: ahead }));
  await assertContained();
});

test('heads that it cannot show: of a longer chain, and of another one', async () => {
  await reborn();
  const { batch } = await federation.member('us', EU);
  const claim = (number: number) => () => {
    liar.status = { ...liar.status, heads: [{ node: EU, batch: number, envelope: randomHash() }] };
    return liar.ring();
  };
  await caught('a head of another chain', 'withheld', claim(batch));
  // A node does not ask a peer for its own chain while it runs: what it signed it knows.
  await caught(
    'a head of a longer chain',
    'withheld',
    claim(1e9),
    honest.filter((node) => node !== EU),
  );
  for (const node of honest) {
    assert.equal([(await federation.member(node, EU)).batch, (await federation.view(node)).equivocations], [batch, []]);
  }
  await federation.serve(0, SERVICE_MS);
});

test('a roster that a majority named is in force while a member lies', async () => {
  const file = join(cluster.home, 'quorum.json');
  const output = { out: () => undefined, err: () => undefined };
  await rosterCommand(['propose', '--quorum', '2', '--home', cluster.nodeHome('us'), '--out', file], output);
  for (const id of ['us', 'eu', 'ca']) {
    assert.is(await rosterCommand(['name', file, '--home', cluster.nodeHome(id)], output), 0);
  }
  const version = async (node: string) => (await federation.view(node)).rosterVersion;
  for (const node of honest) await until(`${node} to be under roster 2`, async () => (await version(node)) === 2);
  await federation.serve(0, SERVICE_MS);
});

test('oversize messages, requests and answers', async () => {
  await reborn();
  const monster = new Uint8Array(MONSTROUS);
  await caught('oversize message', 'oversize', () => liar.transport.publish('batch', monster.subarray(0, 100_000)));
  const ask = () => Array.fromAsync(liar.transport.request(EU, 'status', monster)).catch(() => undefined);
  await caught('oversize request', 'oversize', ask, [EU]);
  liar.serve = () => [monster];
  await caught('oversize answer', 'oversize', () => {
    liar.status = { ...liar.status, keys: [{ node: EU, hash: randomHash() }] };
    return liar.ring();
  });
  await assertContained();
});

test('two envelopes for one batch number, which the ledger does not name: shown everywhere as they were signed, and no proof', async () => {
  await reborn();
  const second = await next({ size: 2 });
  await caught('two envelopes', 'equivocation', async () => {
    await liar.publish({ type: 'envelope', signed: announced });
    await liar.publish({ type: 'envelope', signed: second });
  });
  await assertContained();
  for (const node of honest) {
    const view = await federation.view(node);
    assert.equal([view.equivocations, view.members.get(SG)?.trusted], [[], true], node);
    const shown = await federation.text(node, '/v1/equivocations');
    for (const { signature } of [announced, second]) assert.ok(shown.includes(signature), node);
    assert.match(await federation.metrics(node), /peer_faults_total\{.*peer="sg",fault="equivocation".*\} 1/);
  }
  await federation.serve(0, SERVICE_MS);
});

/**
 * The others' service before, while the member floods until it is noted and cut off, and while it knocks after that.
 */
async function flooded(member: NodeId, kind: FloodKind): Promise<void> {
  const others = honest.filter((node) => node !== member);
  const calm = await federation.serve(MEASURED_MS, SERVICE_MS);
  await using flood = await Flood.start(placeOf(member), cluster.rosterFile, kind);
  const serving = federation.serve(MEASURED_MS, SERVICE_MS);
  await caught(`flood of ${kind}`, 'flood', () => serving, others, member);
  const under = await serving;
  const alone = async (node: string) => (await federation.member(node, member)).connected === false;
  for (const node of others) await until(`${node} to cut ${member} off`, () => alone(node));
  const sent = await flood.end();
  console.log(
    `  ${sent} sent; batches of the others ${calm.perSecond.toFixed(1)}/s before and ${under.perSecond.toFixed(1)}/s ` +
      `under it (ratio ${(under.perSecond / calm.perSecond).toFixed(2)}), ` +
      `the slowest ${calm.worst.toFixed(0)} and ${under.worst.toFixed(0)} ms`,
  );
  assert.ok(await federation.isMeshed());
  for (const node of others) {
    const metrics = await federation.metrics(node);
    assert.match(metrics, new RegExp(`meridian_peer_faults_total\\{.*peer="${member}",fault="flood"`), node);
  }
}

test('floods of topics keep nobody else waiting, and are cut off', async () => {
  await liar[Symbol.asyncDispose]();
  await flooded(SG, 'topics');
});

test('floods of streams keep nobody else waiting, and are cut off', async () => {
  await federation.retire(JP);
  await flooded(JP, 'streams');
});

test.run();
