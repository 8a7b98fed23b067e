import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { CheckpointStore, checkpointTable } from '../../../node/log/checkpoint-store.ts';
import { Checkpoints } from '../../../node/log/checkpoints.ts';
import { readCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { PeerStatementError } from '../../../node/log/members/peer-statement-error.ts';
import { openGate } from '../../../node/store/operation.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import type { SignedRoster } from '../../../protocol/keys/signed-roster.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { openKeys } from '../../fixtures/federation-keys.ts';
import { createMember, seedOf, type TestMember } from '../../fixtures/federation-member.ts';
import { until } from '../../fixtures/until.ts';
import { genesisOf, hashOf } from '../../protocol/log/topic.ts';
import { LogStore } from './log-store.ts';

const EU = nodeId('eu');
const US = nodeId('us');
const AT = timestampOf(Date.UTC(2026, 0, 1));
/** The least time between two checkpoints of a federation of two. In milliseconds. */
const INTERVAL_MS = 1_000;
/** A timer may fire that much early. */
const TIMER_MS = 2;

const members = new Map<NodeId, TestMember>();
for (const node of [EU, US]) members.set(node, await createMember('checkpoints', node, nativeSigner, AT));

function member(node: NodeId): TestMember {
  const found = members.get(node);
  if (found === undefined) throw new RangeError(`${node} is no member`);
  return found;
}

/** A member `eu` with a tree that a test grows. */
async function openFixture(gate = openGate) {
  const resources = new AsyncDisposableStack();
  const home = resources.use(await LogStore.open(gate));
  const { store } = home;
  const roster = genesisOf([], { quorum: 1, members: [...members.values()].map((one) => one.member) });
  const signatures: SignedRoster['signatures'] = [];
  for (const { node, identity } of members.values()) {
    signatures.push({ node, signature: (await signStatement(rosterStatement, roster, identity)).signature });
  }
  const keys = await openKeys(store, { genesis: { statement: rosterStatement.write(roster), signatures }, later: [] });
  for (const { key } of members.values()) await keys.learnCertificate(key.signed);
  const federation = keys.rosters.genesis;
  const tree = { size: 0, rootAt: async (size: number) => hashOf(`root ${size}`) };
  const checkpointStore = await CheckpointStore.open(store, tree);
  const sent: { readonly checkpoint: Checkpoint; readonly at: number; readonly isHeld: boolean }[] = [];
  const vouched = new Map<NodeId, number>();
  const removal: { at: number | null; asked: number } = { at: null, asked: 0 };
  const checkpoints = resources.use(
    new Checkpoints({
      self: EU,
      federation,
      signer: () => member(EU).key.signer,
      keys,
      checkpointStore,
      tree,
      vouched: () => vouched,
      removedAt() {
        removal.asked++;
        return removal.at;
      },
      async publish(signed) {
        const at = performance.now();
        const { checkpoint } = readCheckpoint(signed);
        const held = await checkpointTable.get(store, EU, checkpoint.keyId);
        sent.push({ checkpoint, at, isHeld: held?.text === signed.text });
      },
      log: pino({ level: 'silent' }),
    }),
  );
  const sign = async (node: NodeId, size: number, change: Partial<Checkpoint> = {}, by = member(node).key.signer) => {
    const root = hashOf(`root ${size}`);
    const said: Checkpoint = {
      v: 1,
      type: 'checkpoint',
      federation,
      node,
      keyId: by.keyId,
      size,
      root,
      vouched: {},
      ...change,
    };
    const { statement, signature } = await signStatement(checkpointStatement, said, by);
    return { text: statement, signature };
  };
  return {
    tree,
    checkpointStore,
    sent,
    vouched,
    removal,
    checkpoints,
    sign,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

test('nothing is signed before the start, and nothing of an empty log', async () => {
  await using fixture = await openFixture();
  fixture.tree.size = 3;
  fixture.checkpoints.noteGrowth();
  assert.is(await fixture.checkpoints.learn(await fixture.sign(US, 3)), 'counted');
  assert.equal(fixture.sent, []);
  fixture.checkpoints.start();
  await until('the first', () => fixture.sent.length === 1);
  assert.equal(
    fixture.sent.map(({ checkpoint: { node, size } }) => [node, size]),
    [['eu', 3]],
  );
});

test('one is signed at once when the tree has grown, the next only when the interval is over; each is on the disk first', async () => {
  await using fixture = await openFixture();
  fixture.checkpoints.start();
  const began = performance.now();
  fixture.tree.size = 1;
  fixture.checkpoints.noteGrowth();
  await until('the first', () => fixture.sent.length === 1);
  for (const size of [2, 3, 4]) {
    fixture.tree.size = size;
    fixture.checkpoints.noteGrowth();
  }
  await until('the second', () => fixture.sent.length === 2);
  assert.equal(
    fixture.sent.map(({ checkpoint }) => checkpoint.size),
    [1, 4],
  );
  assert.equal(
    fixture.sent.map(({ isHeld }) => isHeld),
    [true, true],
  );
  const [first = 0, second = 0] = fixture.sent.map(({ at }) => at);
  assert.ok(second - first >= INTERVAL_MS - TIMER_MS, `${second - first} ms after it`);
  assert.ok(first - began < second - first, 'the first waited for no interval');
  assert.is(fixture.checkpointStore.newest(EU)?.checkpoint.size, 4);
});

test('growth that says nothing new is not signed again; more that is vouched for is', async () => {
  await using fixture = await openFixture();
  fixture.tree.size = 2;
  fixture.checkpoints.start();
  await until('the first', () => fixture.sent.length === 1);
  fixture.checkpoints.noteGrowth();
  await until('that it was looked at', () => performance.now() - (fixture.sent[0]?.at ?? 0) > INTERVAL_MS * 1.3);
  assert.is(fixture.sent.length, 1);
  fixture.vouched.set(US, 1);
  fixture.checkpoints.noteGrowth();
  await until('the second', () => fixture.sent.length === 2);
  assert.equal(fixture.sent[1]?.checkpoint.vouched, { us: 1 });
});

test('a member that is removed signs one checkpoint that covers its removal, and no more', async () => {
  await using fixture = await openFixture();
  const { tree, sent, removal, checkpoints } = fixture;
  tree.size = 3;
  checkpoints.start();
  await until('the first', () => sent.length === 1);
  removal.at = 3;
  tree.size = 4;
  checkpoints.noteGrowth();
  await until('the last', () => sent.length === 2);
  const { asked } = removal;
  tree.size = 5;
  checkpoints.noteGrowth();
  await until('the turn after it', () => removal.asked > asked);
  await checkpoints[Symbol.asyncDispose]();
  assert.equal(
    sent.map(({ checkpoint }) => checkpoint.size),
    [3, 4],
  );
});

test('a store that is a copy signs nothing below what others say it has signed', async () => {
  await using fixture = await openFixture();
  fixture.tree.size = 2;
  assert.is(await fixture.checkpoints.learn(await fixture.sign(EU, 5, { vouched: { us: 3 } })), 'ahead');
  fixture.checkpoints.start();
  fixture.tree.size = 6;
  await fixture.checkpoints.reconsider();
  fixture.vouched.set(US, 2);
  fixture.checkpoints.noteGrowth();
  await fixture.checkpoints.learn(await fixture.sign(US, 6));
  await until('a look', () => fixture.checkpointStore.newest(US)?.checkpoint.size === 6);
  assert.equal(fixture.sent, []);
  fixture.vouched.set(US, 3);
  fixture.checkpoints.noteGrowth();
  await until('one that covers it', () => fixture.sent.length === 1);
  assert.equal([fixture.sent[0]?.checkpoint.size, fixture.sent[0]?.checkpoint.vouched], [6, { us: 3 }]);
});

test('a checkpoint that the disk refuses is not sent; it is signed again', async () => {
  let failing = false;
  let refused = 0;
  await using fixture = await openFixture((commit) => {
    if (!failing) return openGate(commit);
    refused++;
    failing = false;
    return Promise.reject(new Error('the disk is gone'));
  });
  failing = true;
  fixture.tree.size = 1;
  fixture.checkpoints.start();
  await until('the second try', () => fixture.sent.length === 1);
  assert.equal([refused, fixture.sent[0]?.isHeld], [1, true]);
});

test('only what a certified key of its member signed, for this federation, is taken', async () => {
  await using fixture = await openFixture();
  fixture.tree.size = 9;
  const faultOf = async (signed: SignedCheckpoint) => {
    try {
      return await fixture.checkpoints.learn(signed);
    } catch (error) {
      return error instanceof PeerStatementError ? error.fault : 'another error';
    }
  };
  const right = await fixture.sign(US, 4);
  const stranger = nativeSigner(seedOf('stranger'));
  assert.is(await faultOf(await fixture.sign(US, 4, {}, stranger)), 'unknown-key');
  assert.is(await faultOf(await fixture.sign(US, 4, { keyId: member(US).key.signer.keyId }, stranger)), 'forged');
  assert.is(await faultOf(await fixture.sign(US, 4, { node: EU })), 'unknown-key');
  assert.is(await faultOf(await fixture.sign(US, 4, { node: nodeId('sg') })), 'unknown-member');
  assert.is(await faultOf(await fixture.sign(US, 4, { federation: hashOf('another') })), 'malformed');
  assert.is(await faultOf({ ...right, text: `${right.text} ` }), 'malformed');
  assert.is(await faultOf(await fixture.sign(US, 4, { root: hashOf('another tree') })), 'false');
  assert.equal(
    fixture.checkpointStore.contradicted.map(({ checkpoint }) => checkpoint.node),
    ['us'],
  );
  assert.is(await faultOf(right), 'counted');
});

test.run();
