import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type HaltReason, OwnChain, type OwnChainOptions } from '../../../node/federation/own-chain.ts';
import { encodeItem } from '../../../node/federation/page-forms.ts';
import { PeerFaults } from '../../../node/log/peer-faults.ts';
import { RivalSearch } from '../../../node/federation/rival-search.ts';
import { TransportError } from '../../../node/transport/errors.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { PageClient } from '../../../node/federation/page-client.ts';
import type { Transport } from '../../../node/transport/contract.ts';
import { startFrames } from '../../../node/federation/start/start-answers.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { NOTHING_DECIDED } from '../../fixtures/nothing-decided.ts';
import { FakeNetwork } from './fake-network.ts';
import { fastFederation, MemberFixture, silent, temporaryHome } from './member-fixture.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'jp'];
const FOREVER = new AbortController().signal;

/** Its own chain alone, over a store whose replacement, catch-up and clock a test gives. */
function ownChainOf(eu: MemberFixture, transport: Transport, options: Partial<OwnChainOptions>): OwnChain {
  const pages = new PageClient(transport);
  return new OwnChain({
    self: eu.node,
    chains: eu.chains,
    keys: eu.keys,
    transport,
    pages,
    rivals: new RivalSearch({ keys: eu.keys, pages, signal: FOREVER }),
    decided: NOTHING_DECIDED,
    faults: new PeerFaults(Date.now),
    catchUp: { lead: () => {}, forgive: () => {}, settled: async () => {}, abandon: async () => {} },
    replacement: { outdone: async () => undefined, take: async () => 0 },
    onCheckpoint: async () => {},
    onHalt: () => {},
    log: silent,
    ...options,
  });
}

test('what comes to light late stops the node also where it does not follow what it holds', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const [first, second] = [await federation.sealBatch('eu', [{}]), await federation.sealBatch('eu', [{}])];
  const rival = { ...first.envelope, sealedAt: federation.tick() };
  const signed = await signStatement(envelopeStatement, rival, federation.member('eu').key.signer);
  eu.chains.advance({ envelope: rival, signed });
  const network = new FakeNetwork();
  const us = network.transport('us', NODES, () => 'accept');
  us.serve('batches', async function* () {
    yield encodeItem({ kind: 'envelope', signed: second.signed });
  });
  await us.start();
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const halts: HaltReason[] = [];
  const ownChain = ownChainOf(eu, transport, { onHalt: (reason) => halts.push(reason) });
  assert.is(await ownChain.recover(FOREVER, () => true), 0);
  ownChain.noteClaim(nodeId('us'), 2);
  await until('the halt', () => halts.length > 0);
  assert.equal(halts, ['behind']);
});

test('a member whose claim turns out to be forged is asked for it no more', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const [batch, other] = [await federation.sealBatch('eu', [{}]), await federation.sealBatch('eu', [{}])];
  const network = new FakeNetwork();
  const us = network.transport('us', NODES, () => 'accept');
  let asked = 0;
  us.serve('batches', async function* () {
    asked++;
    yield encodeItem({ kind: 'envelope', signed: { ...batch.signed, signature: other.signed.signature } });
  });
  await us.start();
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const ownChain = ownChainOf(eu, transport, {});
  ownChain.noteClaim(nodeId('us'), 1);
  let looks = 0;
  assert.is(await ownChain.recover(FOREVER, () => ++looks > 2), 0);
  assert.equal([asked, ownChain.halted], [1, null]);
});

test('an own batch that is sealed while a member shows it is no news, and stops nothing', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  const network = new FakeNetwork();
  const us = network.transport('us', NODES, () => 'accept');
  us.serve('batches', async function* () {
    yield encodeItem({ kind: 'envelope', signed: batch.signed });
  });
  await us.start();
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const halts: HaltReason[] = [];
  let isShown = false;
  const ownChain = ownChainOf(eu, transport, {
    onHalt: (reason) => halts.push(reason),
    decided: {
      ...NOTHING_DECIDED,
      async envelopeOf() {
        eu.chains.advance(batch);
        isShown = true;
        return undefined;
      },
    },
  });
  assert.is(await ownChain.recover(FOREVER, () => true), 0);
  ownChain.noteClaim(nodeId('us'), 1);
  await until('us to show it', () => isShown);
  await turn();
  assert.equal([halts, ownChain.halted], [[], null]);
});

test('a start is over only once nothing of the own chain is being pulled, and what came last is looked at again', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  const transport = new FakeNetwork().transport('eu', NODES, () => 'accept');
  const heads: number[] = [];
  const ownChain = ownChainOf(eu, transport, {
    catchUp: {
      lead: () => {},
      forgive: () => {},
      settled: async () => {},
      abandon: async () => eu.chains.advance(batch),
    },
  });
  const taken = await ownChain.recover(FOREVER, () => heads.push(eu.chains.head(eu.node).batch) > 0);
  assert.equal([taken, heads], [1, [0, 1]]);
});

test('a decided batch that no member can show ends the chain, once all have answered and had time to fetch it', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  await eu.hold(batch);
  const network = new FakeNetwork();
  for (const name of ['us', 'jp']) {
    const other = network.transport(name, NODES, () => 'accept');
    other.serve('start', async function* () {
      yield* startFrames({ batch: 1, checkpoints: [] });
    });
    // Of the number it has what eu has: nobody has what was decided.
    other.serve('batches', async function* () {
      yield encodeItem({ kind: 'envelope', signed: batch.signed });
    });
    await other.start();
  }
  const transport = network.transport('eu', NODES, () => 'accept');
  await transport.start();
  const clock = { now: 0 };
  const halts: HaltReason[] = [];
  const garbage = hashText(nativeSuite, 'garbage');
  const ownChain = ownChainOf(eu, transport, {
    decided: { envelopeOf: async () => garbage, isRevoked: () => false },
    replacement: {
      outdone: async () => ({ held: batch, decided: garbage }),
      take: () => Promise.reject(new Error('nobody shows anything')),
    },
    monotonic: () => clock.now,
    onHalt: (reason) => halts.push(reason),
  });
  ownChain.noteCompared(nodeId('us'));
  let looks = 0;
  await ownChain.recover(FOREVER, ({ answered, held }) => {
    assert.is(held, 0);
    looks++;
    if (looks === 2) ownChain.noteCompared(nodeId('jp'));
    // Long, and one of them has not answered: it may be the one that has it.
    if (looks === 1) clock.now += 3_600_000;
    if (answered.size === 2) clock.now += 10_000;
    assert.equal(halts, []);
    return true;
  });
  assert.equal(halts, ['closed']);
  assert.ok(looks > 4, 'they had time');
});

test('a decided batch that a member shows is not lost, however long it takes to come', async () => {
  await using home = await temporaryHome();
  const federation = await fastFederation(NODES);
  await using eu = await MemberFixture.open(home.path, federation, 'eu');
  const batch = await federation.sealBatch('eu', [{}]);
  await eu.hold(batch);
  const { identity } = federation.member('eu');
  const key = await certifyKey(eu.node, identity, nativeSigner(seedOf('anew')), {
    validFrom: federation.tick(),
    seqFrom: 1,
  });
  await eu.keys.learnCertificate(key.signed);
  const anew = await signStatement(envelopeStatement, { ...batch.envelope, keyId: key.signer.keyId }, key.signer);
  const decided = hashText(nativeSuite, anew.statement);
  const network = new FakeNetwork();
  const us = network.transport('us', ['eu', 'us'], () => 'accept');
  us.serve('start', async function* () {
    yield* startFrames({ batch: 1, checkpoints: [] });
  });
  us.serve('batches', async function* () {
    yield encodeItem({ kind: 'envelope', signed: anew });
  });
  await us.start();
  const transport = network.transport('eu', ['eu', 'us'], () => 'accept');
  await transport.start();
  const clock = { now: 0 };
  const halts: HaltReason[] = [];
  let tries = 0;
  const ownChain = ownChainOf(eu, transport, {
    decided: { envelopeOf: async () => decided, isRevoked: () => false },
    replacement: {
      outdone: async () => (tries < 4 ? { held: batch, decided } : undefined),
      async take() {
        clock.now += 20_000;
        if (++tries < 4) throw new TransportError('timeout', 'a slow line');
        return 1;
      },
    },
    monotonic: () => clock.now,
    onHalt: (reason) => halts.push(reason),
  });
  ownChain.noteCompared(nodeId('us'));
  const taken = await ownChain.recover(FOREVER, ({ answered }) => {
    clock.now += 500;
    return answered.size === 1;
  });
  assert.equal([taken, tries, halts], [1, 4, []]);
});

test.run();
