import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeItem, type PageRequest } from '../../../node/federation/page-forms.ts';
import { PageServer } from '../../../node/federation/page-server.ts';
import { equivocationTable } from '../../../node/federation/equivocations.ts';
import { readBatch, type StoredBatch } from '../../../node/sealing/batch-tables.ts';
import type { PeerFault } from '../../../protocol/api/peer-faults.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { SignedStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { Liar, type Page, randomHash } from '../../fixtures/liar.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { type TestNode, until } from '../../fixtures/test-node.ts';

const HONEST = ['eu', 'us', 'jp', 'ca'];
const SG = nodeId('sg');
const HOUR_MS = 3_600_000;
const FLOOD_MESSAGES = 1_500;
const FLOOD_REQUESTS = 200;
/** What a batch may take to every honest node and back, lied to or not. In milliseconds. */
const SERVICE_MS = 10_000;

const network = await TestNetwork.start({ nodes: [...HONEST, SG] });
const nodes = HONEST.map((name) => network.node(name));
const eu = network.node('eu');
/** What `sg` sealed while it was honest. */
let honest: StoredBatch;
let liar: Liar;
/** The batch that it announces, and never shows a body of. */
let announced: SignedStatement;
let served = 0;

function faultsAt(node: TestNode, fault: PeerFault): number {
  const { faults } = node.context.federation;
  return faults.all().find((seen) => seen.peer === SG && seen.fault === fault)?.count ?? 0;
}

/** Waits until nodes have caught `sg` once more; returns the milliseconds since the call. */
async function caught(fault: PeerFault, by: readonly TestNode[], act: () => Promise<unknown>): Promise<number> {
  const before = by.map((node) => faultsAt(node, fault));
  const began = performance.now();
  await act();
  for (const [i, node] of by.entries()) {
    await until(`${node.config.id} to note ${fault}`, () => faultsAt(node, fault) > (before[i] ?? 0));
  }
  return performance.now() - began;
}

/** The liar comes back, known to nobody for what it did before, and serves this. */
async function reborn(serve: Page = () => []): Promise<void> {
  await liar[Symbol.asyncDispose]();
  liar = await Liar.start(network.node(SG), eu.context.keys.rosters);
  liar.serve = serve;
  await until('the liar to be meshed', () =>
    nodes.every(({ context }) =>
      context.transport.peers().some(({ node, subscribed }) => node === SG && subscribed.length === 3),
    ),
  );
}

/** One more batch of `eu` reaches and is cosigned by all who are honest; returns the milliseconds. */
async function service(): Promise<number> {
  const began = performance.now();
  await eu.attest({ input: ++served });
  await eu.seal();
  const { batch } = eu.context.chains.head(nodeId('eu'));
  const witnesses = nodes.filter((node) => node !== eu).map(({ config }) => config.id);
  for (const { config, context } of nodes) {
    for (const witness of witnesses) {
      await until(
        `${witness}’s cosignature at ${config.id}`,
        () => context.cosignatures.watermark(nodeId('eu'), witness) === batch,
        SERVICE_MS,
      );
    }
  }
  return performance.now() - began;
}

function isMeshed(): boolean {
  return nodes.every(
    ({ context }) => context.transport.peers().filter(({ node, connected }) => node !== SG && connected).length === 3,
  );
}

async function* pageOf(node: TestNode, request: PageRequest): AsyncGenerator<Uint8Array> {
  yield* new PageServer(node.context).serve(request);
}

function next(change: Partial<StoredBatch['envelope']> = {}): ReturnType<Liar['sign']> {
  const { batch, first, size } = honest.envelope;
  return liar.sign(honest.envelope, {
    batch: batch + 1,
    first: first + size,
    prev: honestHash(),
    sealedAt: timestampOf(Date.now()),
    ...change,
  });
}

function honestHash() {
  return eu.context.chains.head(SG).hash;
}

/** Says again, in another way, that it holds the batch: gossip does not take the same message twice. */
function claimNext(): Promise<number> {
  liar.status = { ...liar.status, heads: [{ node: SG, batch: 2, envelope: randomHash() }] };
  return liar.ring();
}

/** The chain of `sg` as all honest nodes hold it did not move, and nobody cosigned anything of it. */
function assertContained(): void {
  for (const { context } of nodes) {
    assert.is(context.chains.head(SG).batch, 1);
    assert.is(context.cosignatures.watermark(SG, nodeId('eu')), 1);
  }
  assert.ok(isMeshed());
}

test.before(async () => {
  const sg = network.node(SG);
  await sg.attest({ input: 1 });
  await sg.seal();
  for (const { context } of nodes) {
    await until('the honest batch, cosigned', () =>
      ['eu', 'us', 'jp', 'ca'].every((witness) => context.cosignatures.watermark(SG, nodeId(witness)) === 1),
    );
  }
  const stored = await readBatch(eu.context.store, SG, 1);
  if (stored === undefined) throw new Error('no batch');
  honest = stored;
  await sg.stop();
  liar = await Liar.start(sg, eu.context.keys.rosters);
  announced = await next();
});

test.after(async () => {
  await liar[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
});

test('a body that is announced and withheld', async () => {
  await reborn();
  const ms = await caught('withheld', nodes, () => liar.publish({ type: 'envelope', signed: announced }));
  console.log(`withheld body: noted everywhere after ${ms.toFixed(0)} ms`);
  assertContained();
});

test('a wrong body', async () => {
  await reborn(() => [
    encodeItem({ kind: 'envelope', signed: { statement: announced.statement, signature: honest.signed.signature } }),
  ]);
  const ms = await caught('forged', nodes, () => claimNext());
  console.log(`wrong body: noted everywhere after ${ms.toFixed(0)} ms`);
  assertContained();
});

test('another node’s data as an answer to catch-up', async () => {
  await service();
  const foreign = await Array.fromAsync(pageOf(eu, { want: 'chain', node: nodeId('eu'), batch: 1, seq: 1 }));
  await reborn(() => foreign);
  const ms = await caught('malformed', nodes, () => claimNext());
  console.log(`another node’s data: noted everywhere after ${ms.toFixed(0)} ms`);
  assertContained();
});

test('batches that are dated falsely', async () => {
  const before = await next({ batch: 3, sealedAt: timestampOf(Date.now() - HOUR_MS) });
  const ms = await caught('forged', nodes, () => liar.publish({ type: 'envelope', signed: before }));
  console.log(`dated before its key: noted everywhere after ${ms.toFixed(0)} ms`);
  const ahead = await next({ batch: 4, sealedAt: timestampOf(Date.now() + HOUR_MS) });
  const later = await caught('misdated', nodes, () => liar.publish({ type: 'envelope', signed: ahead }));
  console.log(`dated an hour off: noted everywhere after ${later.toFixed(0)} ms`);
  assertContained();
});

test('heads that it cannot show: of a longer chain, and of another one', async () => {
  await reborn();
  const { batch } = eu.context.chains.head(nodeId('eu'));
  const heads = (number: number) => [{ node: nodeId('eu'), batch: number, envelope: randomHash() }];
  liar.status = { ...liar.status, heads: heads(batch) };
  const others = nodes.filter((node) => node !== eu);
  const ms = await caught('withheld', nodes, () => liar.ring());
  liar.status = { ...liar.status, heads: heads(1e9) };
  await caught('withheld', others, () => liar.ring());
  console.log(`false heads: noted everywhere after ${ms.toFixed(0)} ms`);
  for (const { context } of nodes) {
    assert.is(context.chains.head(nodeId('eu')).batch, batch);
    assert.equal(context.equivocations.all(), []);
  }
  assert.is(eu.context.federation.halted, null);
});

test('an old roster replayed as a new one changes nothing', async () => {
  const old = eu.context.keys.rosters.signed;
  await reborn(({ want }) => (want === 'rosters' ? old.map((roster) => encodeItem({ kind: 'roster', roster })) : []));
  liar.status = { ...liar.status, roster: 7, rosterHash: randomHash() };
  await liar.ring();
  await until('all to have asked', () => liar.asked.filter(({ want }) => want === 'rosters').length >= nodes.length);
  for (const { context } of nodes) {
    assert.is(context.keys.rosters.current.version, 1);
    assert.equal(context.keys.book.rivals, []);
  }
});

test('oversize messages, requests and answers', async () => {
  await reborn();
  const monster = new Uint8Array(2 << 20);
  const gossip = await caught('oversize', nodes, () => liar.transport.publish('batch', monster.subarray(0, 100_000)));
  await caught('oversize', [eu], () =>
    Array.fromAsync(liar.transport.request('eu', 'status', monster)).catch(() => undefined),
  );
  liar.serve = () => [monster];
  liar.status = { ...liar.status, keys: [randomHash()] };
  await caught('oversize', nodes, () => liar.ring());
  console.log(`oversize message: noted everywhere after ${gossip.toFixed(0)} ms`);
  assert.ok(isMeshed());
});

test('floods of topics and of streams keep nobody else waiting', async () => {
  await reborn();
  const calm = await service();
  const ms = await caught('flood', nodes, async () => {
    const flood = Array.from({ length: FLOOD_MESSAGES }, () => liar.ring());
    const requests = Array.from({ length: FLOOD_REQUESTS }, () =>
      Array.fromAsync(liar.transport.request('eu', 'status', utf8('{}'))).catch(() => undefined),
    );
    const under = await service();
    console.log(`a batch to all and back: ${calm.toFixed(0)} ms in calm, ${under.toFixed(0)} ms under a flood`);
    await Promise.allSettled([...flood, ...requests]);
  });
  console.log(`flood: noted everywhere after ${ms.toFixed(0)} ms`);
  assert.ok(isMeshed());
});

test('two envelopes for one batch number: signed proof at every node, shown, and nothing of it cosigned', async () => {
  await reborn();
  const second = await next({ size: 2 });
  const ms = await caught('equivocation', nodes, async () => {
    await liar.publish({ type: 'envelope', signed: announced });
    await liar.publish({ type: 'envelope', signed: second });
  });
  console.log(`equivocation: proven everywhere after ${ms.toFixed(0)} ms`);
  for (const { context } of nodes) {
    await until('the proof on the disk', async () => (await equivocationTable.get(context.store, SG, 2)) !== undefined);
  }
  assertContained();
  const { body } = await eu.get('/v1/federation');
  assert.match(JSON.stringify(body.faults), /\{"peer":"sg","fault":"equivocation","count":1,"last":"20/);
  const { text } = await eu.get('/metrics');
  assert.match(text, /meridian_peer_faults_total\{.*peer="sg",fault="equivocation".*\} 1/);
  await service();
});

test.run();
