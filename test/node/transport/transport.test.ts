import { peerIdFromString } from '@libp2p/peer-id';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reachableMembers, requireReachable } from '../../../node/transport/read-members.ts';
import { createTransport } from '../../../node/transport/transport.ts';
import { ANY_PORT, ask, codeOf, DIGEST, memberOf, Network, peerOf, seedOf, silent } from './network.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['ca', 'eu', 'jp', 'sg', 'us'];

test('five nodes mesh and a message reaches every other one, once for each author', async () => {
  await using network = await Network.of(NODES);
  await network.meshed();
  const recipients = await network.transport('jp').publish('batch', Buffer.from('root 1'));
  assert.is(recipients, 4);
  const others = NODES.filter((node) => node !== 'jp');
  await until('the message', () => others.every((node) => network.peer(node).received.length > 0));
  for (const node of others) {
    assert.equal(network.peer(node).received, [{ topic: 'batch', text: 'root 1', from: 'jp' }]);
  }
  assert.is(network.peer('jp').received.length, 0);
});

test('each topic arrives under its own name', async () => {
  await using network = await Network.of(['eu', 'us']);
  await network.meshed();
  for (const topic of ['batch', 'checkpoint', 'keys'] as const) {
    await network.transport('eu').publish(topic, Buffer.from('same bytes'));
  }
  await until('three messages', () => network.peer('us').received.length === 3);
  assert.equal(
    network
      .peer('us')
      .received.map(({ topic }) => topic)
      .sort(),
    ['batch', 'checkpoint', 'keys'],
  );
});

test('a message published to nobody reaches no one and may be published again', async () => {
  await using network = await Network.of(['eu', 'us']);
  await network.meshed();
  await network.stop('us');
  await until('the leaving', () => network.transport('eu').peers()[0]?.connected === false);
  assert.is(await network.transport('eu').publish('batch', Buffer.from('late')), 0);
  const us = peerOf('us', network.members, { listen: network.members[1]?.multiaddrs ?? [] });
  network.peers.set('us', us);
  await us.transport.start();
  await network.meshed();
  assert.is(await network.transport('eu').publish('batch', Buffer.from('late')), 1);
  await until('the message', () => us.received.length === 1);
});

test('an oversize message is refused and gossip goes on', async () => {
  await using network = await Network.of(['eu', 'us']);
  await network.meshed();
  const largest = Buffer.alloc(64 * 1024, 1);
  assert.is(await codeOf(network.transport('eu').publish('batch', Buffer.alloc(largest.length + 1))), 'too-large');
  assert.is(await network.transport('eu').publish('batch', largest), 1);
  await until('the largest message', () => network.peer('us').received.length === 1);
});

test('a node that went away is found again by those who dial it and by those it dials', async () => {
  await using network = await Network.of(['ca', 'jp', 'us']);
  await network.meshed();
  const came: string[] = [];
  const went: string[] = [];
  network.transport('ca').onConnect((node) => came.push(node));
  const quiet = network.transport('ca').onDisconnect((node) => went.push(node));
  await network.stop('jp');
  await until('the leaving', () => went.length === 1);
  const jp = peerOf('jp', network.members, { listen: network.members[1]?.multiaddrs ?? [] });
  network.peers.set('jp', jp);
  await jp.transport.start();
  await network.meshed();
  assert.equal(came, ['jp']);
  assert.equal(went, ['jp']);
  assert.is(await network.transport('us').publish('keys', Buffer.from('again')), 2);
  await until('the message', () => jp.received.length === 1);
  quiet();
  await network.stop('jp');
  await until('the leaving', () => !network.transport('ca').peers()[0]?.connected);
  assert.is(went.length, 1);
});

test('a state says since when a peer is here, what it subscribes to and how far it is', async () => {
  await using network = await Network.of(['eu', 'us'], { eu: { limits: { pingInterval: 100 } } });
  await network.meshed();
  const eu = network.transport('eu');
  await until('a round trip', () => eu.peers()[0]?.rtt !== null);
  const [state] = eu.peers();
  assert.is(state?.node, 'us');
  assert.equal(state?.subscribed, ['batch', 'checkpoint', 'keys']);
  assert.ok(Math.abs(Date.now() - (state?.since ?? 0)) < 60_000);
  assert.is(state?.lastError, null);
  assert.type(state?.score, 'number');
});

test('the last error of a peer that cannot be reached is shown', async () => {
  const members = [await memberOf('eu', [ANY_PORT]), await memberOf('us', ['/ip4/127.0.0.1/tcp/1'])];
  await using transport = peerOf('eu', members).transport;
  await transport.start();
  await until('an error', () => transport.peers()[0]?.lastError !== null);
  assert.match(transport.peers()[0]?.lastError ?? '', /ECONNREFUSED|Error/);
});

test('a member without an address dials, even with the higher id', async () => {
  const nobody = [await memberOf('eu'), await memberOf('us')];
  await using eu = peerOf('eu', nobody).transport;
  await using us = peerOf('us', nobody, { listen: [] }).transport;
  await eu.start();
  await us.start();
  const members = [await memberOf('eu', eu.addresses()), await memberOf('us')];
  await eu.setMembers(members);
  await us.setMembers(members);
  await until('the dial', () => eu.peers()[0]?.connected === true);
});

test('a removed member is hung up, kept out, and comes back when it is named again', async () => {
  await using network = await Network.of(['ca', 'eu', 'us']);
  await network.meshed();
  const before = network.members;
  const left = before.filter(({ node }) => node !== 'us');
  for (const node of ['ca', 'eu']) await network.transport(node).setMembers(left);
  await until('the hang-up', () =>
    network
      .transport('us')
      .peers()
      .every((state) => !state.connected),
  );
  assert.equal(
    network
      .transport('eu')
      .peers()
      .map(({ node }) => node),
    ['ca'],
  );
  assert.is(await codeOf(ask(network.transport('eu'), 'us', 'status', '')), 'unreachable');
  // `us` still trusts the others, is dialled by none, and dials none, being the highest id.
  assert.is(await network.transport('us').publish('batch', Buffer.from('from outside')), 0);
  await network.tell();
  await network.meshed();
  assert.is(network.peer('eu').received.length, 0);
});

test('of a roster in force, who cannot be told apart or read is left out, and all others hold', async () => {
  const [eu, us, ca] = await Promise.all(['eu', 'us', 'ca'].map((node) => memberOf(node)));
  if (eu === undefined || us === undefined || ca === undefined) return assert.unreachable();
  const respelled = { ...ca, peerId: peerIdFromString(us.peerId).toCID().toString() };
  const stolen = { ...us, multiaddrs: [`/ip4/127.0.0.1/tcp/1/p2p/${eu.peerId}`] };
  for (const [roster, left] of [
    [
      [eu, us, ca],
      ['eu', 'us', 'ca'],
    ],
    [
      [eu, respelled, us],
      ['eu', 'us'],
    ],
    [
      [eu, us, { ...ca, peerId: us.peerId }],
      ['eu', 'us'],
    ],
    [
      [eu, stolen, ca],
      ['eu', 'ca'],
    ],
    [
      [eu, { ...us, peerId: 'x' }, ca],
      ['eu', 'ca'],
    ],
  ] as const) {
    const faults: string[] = [];
    const reachable = reachableMembers(roster, ({ code }) => faults.push(code));
    assert.equal([reachable.map(({ node }) => node), faults.length], [left, roster.length - left.length]);
    const refusal = await codeOf(Promise.resolve().then(() => requireReachable(roster)));
    assert.is(refusal, left.length === roster.length ? 'none' : 'malformed', 'and nobody votes for it');
  }
  const inAnotherWay = { ...us, peerId: peerIdFromString(us.peerId).toCID().toString() };
  assert.is(await codeOf(Promise.resolve().then(() => requireReachable([eu, inAnotherWay]))), 'malformed');
  const { transport } = peerOf('eu', [eu, us]);
  await transport.setMembers([eu, respelled, us]);
  assert.equal(
    transport.peers().map(({ node }) => node),
    ['ca', 'us'],
  );
  await transport[Symbol.asyncDispose]();
});

test('a node whose seed is not the roster’s does not start', async () => {
  const { transport } = peerOf('eu', [{ ...(await memberOf('us')), node: 'eu' }]);
  assert.is(await codeOf(transport.start()), 'malformed');
  await transport[Symbol.asyncDispose]();
});

test('wrong options are refused at once', async () => {
  const members = [await memberOf('eu')];
  const options = { self: 'eu', seed: seedOf('eu'), listen: [], digest: DIGEST, members, log: silent };
  const receive = () => 'accept' as const;
  assert.throws(() => createTransport({ ...options, receive, digest: 'XYZ' }), /8 lower-case hex digits/);
  assert.throws(() => createTransport({ ...options, receive, limits: { frameBytes: 0 } }), /frameBytes/);
});

test('a transport that is not running says so', async () => {
  const { transport } = peerOf('eu', [await memberOf('eu')]);
  assert.is(await codeOf(transport.publish('batch', Buffer.from('x'))), 'aborted');
  await transport[Symbol.asyncDispose]();
  await transport[Symbol.asyncDispose]();
  assert.is(await codeOf(transport.start()), 'aborted');
});

test.run();
