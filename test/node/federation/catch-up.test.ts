import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeItem, encodeItem } from '../../../node/federation/page-forms.ts';
import { StoreError } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { MemberNetwork } from './member-network.ts';
import { CHAIN_TABLES, rowsOf } from './member-fixture.ts';
import { until } from '../../fixtures/until.ts';
import { Pulling, SIX } from './pulling.ts';
import { anotherKind, NINE, signGroup } from './rebuilding.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const [EU, US, CA] = [nodeId('eu'), nodeId('us'), nodeId('ca')];

test('a chain is pulled from its origin where the origin can be asked', async () => {
  await using pulling = await Pulling.start();
  for (let i = 0; i < 3; i++) await pulling.seal('eu', ['eu', 'us']);
  pulling.catchUp.lead(EU, US, 3);
  pulling.catchUp.lead(EU, EU, 3);
  await pulling.catchUp.settled(EU);
  assert.equal(pulling.batches, ['eu/1', 'eu/2', 'eu/3']);
  assert.equal(
    await rowsOf(pulling.fixture('jp').store, CHAIN_TABLES),
    await rowsOf(pulling.fixture('eu').store, CHAIN_TABLES),
  );
});

test('of what may come no more nothing is pulled, however far a peer leads', async () => {
  await using pulling = await Pulling.start();
  for (let i = 0; i < 2; i++) await pulling.seal('eu', ['eu']);
  pulling.lastToCome = 0;
  pulling.catchUp.lead(EU, EU, 1_000_000);
  await pulling.catchUp.settled(EU);
  assert.equal([pulling.head('eu'), pulling.asked('eu')], [0, 0]);
  pulling.lastToCome = 1;
  pulling.catchUp.resume(EU);
  await pulling.catchUp.settled(EU);
  assert.equal([pulling.head('eu'), pulling.asked('eu')], [2, 1], 'a page is taken whole, and no other asked for');
});

test('with the origin dead the chain comes from another peer', async () => {
  await using pulling = await Pulling.start();
  for (let i = 0; i < 3; i++) await pulling.seal('eu', ['eu', 'us']);
  pulling.network.cut('eu');
  pulling.catchUp.lead(EU, EU, 3);
  pulling.catchUp.lead(EU, US, 3);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 3);
  assert.ok(pulling.asked('us') > 0);
});

test('an origin that lies is left alone, and the chain comes whole from another peer', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal('eu', ['eu', 'us']);
  pulling.network.distortions.set('eu', async function* (frames) {
    for await (const frame of frames) {
      const item = decodeItem(frame);
      yield item.kind === 'records' ? encodeItem({ kind: 'records', records: item.records.map(anotherKind) }) : frame;
    }
  });
  pulling.catchUp.lead(EU, EU, 1);
  pulling.catchUp.lead(EU, US, 1);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 1);
  assert.equal(pulling.contradictions, []);
  await pulling.seal('eu', ['eu']);
  pulling.catchUp.lead(EU, EU, 2);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.asked('eu'), 1, 'not asked again within its rest');
});

for (const isSilent of [false, true]) {
  const manner = isSilent ? 'gives its parts and then nothing' : 'goes on, in one cut and another';
  test(`an origin that gives one member other groups of a batch than the rest, and ${manner}, holds up nobody`, async () => {
    await using pulling = await Pulling.start();
    await pulling.seal('eu', ['eu', 'us', 'ca'], NINE, NINE.length);
    const { federation, network, catchUp, faults } = pulling;
    let pages = 0;
    network.distortions.set('eu', async function* (frames) {
      // By turns the group that it gave the others, and a part of it, each of which makes the other be dropped.
      const isPart = pages++ % 2 === 0;
      for await (const frame of frames) {
        const item = decodeItem(frame);
        if (isSilent && pages > 3) yield* [];
        else if (item.kind !== 'records' || !isPart) yield* item.kind === 'group' && isPart ? [] : [frame];
        else {
          const records = item.records.slice(0, 3);
          yield encodeItem({ kind: 'group', signed: await signGroup(federation, 1, records) });
          yield encodeItem({ kind: 'records', records });
          return;
        }
      }
    });
    for (const peer of [EU, US, CA]) catchUp.lead(EU, peer, 1);
    await catchUp.settled(EU);
    assert.equal([pulling.head('eu'), pages], [1, 4]);
    assert.equal(
      faults.all().map(({ peer, fault }) => [peer, fault]),
      [[EU, isSilent ? 'withheld' : 'malformed']],
    );
    assert.equal(
      pulling.asked('us') + pulling.asked('ca'),
      2,
      'the one that begins it again is asked until it is whole',
    );
  });
}

test('an origin that is cut in the middle of a page costs nothing that was whole', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal(
    'eu',
    ['eu', 'us'],
    Array.from({ length: 30 }, () => ({})),
  );
  pulling.network.distortions.set('eu', async function* (frames) {
    let sent = 0;
    for await (const frame of frames) {
      if (sent++ > 12) throw new Error('the wire was cut');
      yield frame;
    }
  });
  pulling.catchUp.lead(EU, EU, 1);
  pulling.catchUp.lead(EU, US, 1);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 1);
  const second = pulling.network.pages.find(({ to }) => to === 'us');
  assert.equal(second?.request, { want: 'chain', node: 'eu', batch: 1, seq: 19 });
});

test('a peer that knew less than it said rests, without a busy loop, and is asked again when it speaks up later', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal('eu', ['eu', 'us']);
  pulling.catchUp.lead(EU, US, 5);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 1);
  assert.is(pulling.asked('us'), 2);
  await pulling.seal('eu', ['eu', 'us']);
  pulling.catchUp.lead(EU, US, 5);
  await sleep(50);
  assert.is(pulling.asked('us'), 2, 'it rests');
  pulling.now += 6_000;
  pulling.catchUp.lead(EU, US, 5);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 2);
});

test('with everybody dead nothing is asked over and over, and a peer that comes back is forgiven at once', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal('eu', ['eu']);
  pulling.network.cut('eu');
  let attempts = 0;
  pulling.catchUp.lead(EU, EU, 1);
  await pulling.catchUp.settled(EU);
  for (; attempts < 20; attempts++) pulling.catchUp.lead(EU, EU, 1);
  await sleep(50);
  assert.equal(pulling.catchUp.active, []);
  pulling.network.heal('eu');
  pulling.catchUp.forgive(EU);
  pulling.catchUp.lead(EU, EU, 1);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 1);
});

test('a rest ends by itself', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal('eu', ['eu']);
  pulling.network.cut('eu');
  pulling.catchUp.lead(EU, EU, 1);
  await pulling.catchUp.settled(EU);
  pulling.network.heal('eu');
  pulling.now += 5_000;
  await until('the wake-up', () => pulling.head('eu') === 1);
});

test('a clock that is set back keeps nobody who rests from being asked again', async () => {
  await using network = await MemberNetwork.create(['us', 'eu']);
  let clock = Date.now() + DAY_MS;
  const us = await network.open('us', { now: () => clock });
  const write = us.store.write.bind(us.store);
  us.store.write = (operations) => {
    if (clock < Date.now() + DAY_MS / 2 || !operations.some(({ key }) => key.startsWith('envelope/'))) {
      return write(operations);
    }
    clock -= DAY_MS;
    return Promise.reject(new StoreError('write-failed', 'the disk fails once'));
  };
  await us.federation.start();
  await network.start('eu');
  const { envelope } = await network.seal('eu');
  await network.holds('us', 'eu', envelope.batch);
});

test('of a chain that is abandoned nothing is pulled, whoever said before that it goes on', async () => {
  await using pulling = await Pulling.start();
  pulling.catchUp.lead(EU, US, 9);
  await pulling.catchUp.settled(EU);
  await pulling.catchUp.abandon(EU);
  await pulling.seal('eu', ['us']);
  pulling.now += 6_000;
  pulling.catchUp.resume(EU);
  await pulling.catchUp.settled(EU);
  assert.equal([pulling.asked('us'), pulling.head('eu')], [1, 0]);
  pulling.catchUp.lead(EU, US, 1);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 1);
});

test('chains come side by side, and a peer has one page under way at a time', async () => {
  await using pulling = await Pulling.start();
  for (const node of ['eu', 'us', 'ca']) for (let i = 0; i < 4; i++) await pulling.seal(node, ['eu', 'us', 'ca']);
  for (const node of [EU, US, CA]) for (const peer of [EU, US, CA]) pulling.catchUp.lead(node, peer, 4);
  assert.equal([...pulling.catchUp.active].sort(), ['ca', 'eu', 'us']);
  for (const node of [EU, US, CA]) await pulling.catchUp.settled(node);
  assert.equal([pulling.head('eu'), pulling.head('us'), pulling.head('ca')], [4, 4, 4]);
  assert.is(pulling.network.mostAtOnce, 1);
});

test('a chain whose origin contradicts itself is reported, not stored, and not pulled in a loop', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal('eu', ['eu']);
  const batch = await pulling.federation.sealBatch('eu', SIX, { envelope: { size: 5 } });
  await pulling.fixture('eu').hold(batch);
  pulling.catchUp.lead(EU, EU, 2);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), 1);
  assert.equal(pulling.contradictions, ['eu by eu']);
  await sleep(30);
  assert.is(pulling.asked('eu'), 1);
});

test('a page under a key that is not known here asks for the keys of the one who sent it', async () => {
  await using pulling = await Pulling.start();
  await pulling.federation.rotateKey('eu');
  const certificate = pulling.federation.certificates.at(-1);
  for (const name of ['eu', 'us']) if (certificate) await pulling.fixture(name).keys.learnCertificate(certificate);
  await pulling.seal('eu', ['eu', 'us']);
  pulling.catchUp.lead(EU, US, 1);
  await pulling.catchUp.settled(EU);
  assert.equal(pulling.unknownKeys, ['us']);
  assert.is(pulling.head('eu'), 0);
});

test('disposed in the middle of a page, it ends', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal(
    'eu',
    ['eu'],
    Array.from({ length: 60 }, () => ({})),
  );
  pulling.network.distortions.set('eu', async function* (frames) {
    for await (const frame of frames) {
      await sleep(20);
      yield frame;
    }
  });
  pulling.catchUp.lead(EU, EU, 1);
  await sleep(60);
  await pulling.catchUp[Symbol.asyncDispose]();
  assert.equal(pulling.catchUp.active, []);
  pulling.catchUp.lead(EU, EU, 1);
  assert.equal(pulling.catchUp.active, []);
});

test('batches of a node are told of as held though it could not be noted that they came from it', async () => {
  await using network = await MemberNetwork.create(['us', 'eu']);
  const held = new Set<string>();
  const starts = {
    answer: () => Promise.reject(new Error('nobody starts here')),
    noteFromOrigin: () => Promise.reject(new Error('the disk fails')),
  };
  const us = await network.open('us', { starts, onHeld: (node) => held.add(node) });
  await us.federation.start();
  await network.start('eu');
  const batch = await network.seal('eu');
  await network.holds('us', 'eu', batch.envelope.batch);
  await until('it to be told', () => held.has('eu'));
});

test.run();
