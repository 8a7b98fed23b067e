import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  CheckpointStore,
  FALSE_KEYS_OF_A_MEMBER,
  FALSE_OF_A_KEY,
  falseCheckpointTable,
  replacedCheckpointTable,
  type Signatories,
} from '../../../node/log/checkpoint-store.ts';
import type { KnownCheckpoint } from '../../../node/log/known-checkpoint.ts';
import type { LogRoster } from '../../../node/log/log-rosters.ts';
import { entityId, type NodeId, nodeId } from '../../../protocol/ids.ts';
import { type Checkpoint, checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import type { Base64url } from '../../../protocol/shapes.ts';
import { encodeSignature, isBase64url } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { hashOf } from '../../protocol/log/topic.ts';
import { LogStore } from './log-store.ts';

const EU = nodeId('eu');
const US = nodeId('us');
const IDENTITY_KEY = encodeSignature(new Uint8Array([1]));

/** A tree whose root at each size is a hash of the size. */
class GrowingTree {
  size: number;
  constructor(size: number) {
    this.size = size;
  }
  async rootAt(size: number) {
    if (size > this.size) throw new RangeError('not there yet');
    return hashOf(`root ${size}`);
  }
}

function known(size: number, change: Partial<Checkpoint> = {}): KnownCheckpoint {
  const checkpoint: Checkpoint = {
    v: 1,
    type: 'checkpoint',
    federation: hashOf('genesis'),
    node: EU,
    keyId: hashOf('first key'),
    size,
    root: hashOf(`root ${size}`),
    vouched: {},
    ...change,
  };
  const signature = 'c2ln';
  if (!isBase64url(signature)) throw new Error('base64url');
  return { checkpoint, signed: { text: checkpointStatement.write(checkpoint), signature } };
}

/** A roster that was in force between these decisions. */
function rosterOf(version: number, nodes: readonly NodeId[], from: number | null, until: number | null): LogRoster {
  const members = nodes.map((node) => ({
    node,
    region: node,
    baseUrl: `https://${node}.example`,
    peerId: node,
    multiaddrs: [],
    accounts: [entityId('0.0.1001')],
    identityKey: IDENTITY_KEY,
  }));
  const ledger = { network: 'testnet', topicId: entityId('0.0.5005') };
  const terms = { v: 2, type: 'roster', name: 'test', previous: null, quorum: 0, revocationReach: 0 } as const;
  return { roster: { ...terms, version, members, ledger, issuedAt: timestampOf(0) }, from, until };
}

function sizesOf(checkpoints: readonly KnownCheckpoint[]): readonly string[] {
  return checkpoints.map(({ checkpoint: { node, size } }) => `${node} ${size}`);
}

/** All members have one identity key, and by it certified all keys. */
function identityKeysOf(): readonly Base64url[] {
  return [IDENTITY_KEY];
}

const FALSE = { root: hashOf('another tree') };

test('one whose root is that of the own tree counts, and one that says no more is known', async () => {
  await using home = await LogStore.open();
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(10));
  assert.is(await checkpointStore.learn(known(4)), 'counted');
  assert.is(await checkpointStore.learn(known(4)), 'known');
  assert.is(await checkpointStore.learn(known(3)), 'known');
  assert.is(await checkpointStore.learn(known(4, { vouched: { us: 2 } })), 'counted');
  assert.is(await checkpointStore.learn(known(4, { vouched: { us: 1 } })), 'known');
  assert.is(await checkpointStore.learn(known(4, { vouched: { us: 1, ca: 1 } })), 'counted');
  assert.is(await checkpointStore.learn(known(9, { node: US })), 'counted');
  assert.equal(checkpointStore.newest(EU)?.checkpoint.vouched, { us: 1, ca: 1 });
  assert.equal(
    checkpointStore.all().map(({ checkpoint }) => [checkpoint.node, checkpoint.size]),
    [
      ['eu', 4],
      ['us', 9],
    ],
  );
  assert.is(checkpointStore.newest(nodeId('sg')), undefined);
});

test('one beyond the own tree waits, counts in nothing, and is judged once the tree has grown', async () => {
  await using home = await LogStore.open();
  const tree = new GrowingTree(3);
  const checkpointStore = await CheckpointStore.open(home.store, tree);
  await checkpointStore.learn(known(2));
  assert.is(await checkpointStore.learn(known(6)), 'ahead');
  assert.is(await checkpointStore.learn(known(7)), 'ahead');
  assert.is(await checkpointStore.learn(known(8, { node: US, ...FALSE })), 'ahead');
  assert.equal([checkpointStore.newest(EU)?.checkpoint.size, checkpointStore.newest(US)], [2, undefined]);
  assert.equal(
    checkpointStore.signedBy(EU).map(({ size }) => size),
    [2, 7],
  );
  tree.size = 6;
  assert.equal(await checkpointStore.reconsider(), []);
  tree.size = 8;
  const judged = (await checkpointStore.reconsider()).map(({ known: { checkpoint }, outcome }) => [
    checkpoint.node,
    outcome,
  ]);
  assert.equal(judged, [
    ['eu', 'counted'],
    ['us', 'false'],
  ]);
  assert.is(checkpointStore.newest(EU)?.checkpoint.size, 7);
  assert.equal(await checkpointStore.reconsider(), []);
});

test('while one that was ahead is judged, its member is known to have signed it', async () => {
  let judging = () => {};
  const begun = new Promise<void>((resolve) => (judging = resolve));
  const going = Promise.withResolvers<void>();
  await using home = await LogStore.open();
  const tree = new GrowingTree(1);
  tree.rootAt = async (size) => {
    judging();
    await going.promise;
    return hashOf(`root ${size}`);
  };
  const checkpointStore = await CheckpointStore.open(home.store, tree);
  await checkpointStore.learn(known(4));
  tree.size = 4;
  const reconsidering = checkpointStore.reconsider();
  await begun;
  assert.equal(
    checkpointStore.signedBy(EU).map(({ size }) => size),
    [4],
  );
  going.resolve();
  await reconsidering;
  assert.equal(
    checkpointStore.signedBy(EU).map(({ size }) => size),
    [4],
  );
});

test('one that the own tree contradicts is evidence: kept, the first and that of the largest tree, and never counted', async () => {
  await using home = await LogStore.open();
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(10));
  assert.is(await checkpointStore.learn(known(5)), 'counted');
  assert.is(await checkpointStore.learn(known(7, FALSE)), 'false');
  for (const size of [8, 10, 6]) assert.is(await checkpointStore.learn(known(size, FALSE)), 'false');
  assert.equal(sizesOf(checkpointStore.contradicted), ['eu 7', 'eu 10']);
  assert.is(checkpointStore.newest(EU)?.checkpoint.size, 5);
  assert.equal(checkpointStore.shown().length, 1);
  assert.is(await checkpointStore.learn(known(9)), 'counted');
  const again = await CheckpointStore.open(await home.reopen(), new GrowingTree(10));
  assert.equal(again.contradicted, checkpointStore.contradicted);
  assert.equal(again.all(), checkpointStore.all());
});

test('a lie by one key hides no larger one by another, and what is kept of a liar is bounded', async () => {
  await using home = await LogStore.open();
  const stolen = new Set<string>();
  const signatories: Signatories = { rosters: () => [], stands: ({ keyId }) => !stolen.has(keyId), identityKeysOf };
  const tree = new GrowingTree(100);
  const checkpointStore = await CheckpointStore.open(home.store, tree, signatories);
  const lie = (key: number, size: number) =>
    checkpointStore.learn(known(size, { keyId: hashOf(`key ${key}`), ...FALSE }));
  for (let key = 1; key <= 2 * FALSE_KEYS_OF_A_MEMBER; key++) {
    for (const more of [0, 5, 9]) await lie(key, 10 * key + more);
  }
  const rows = await Array.fromAsync(falseCheckpointTable.under(home.store, [EU]));
  assert.is(rows.length, FALSE_KEYS_OF_A_MEMBER * FALSE_OF_A_KEY);
  const [kept, last] = [FALSE_KEYS_OF_A_MEMBER + 1, 2 * FALSE_KEYS_OF_A_MEMBER];
  assert.equal(sizesOf(checkpointStore.contradicted), [`eu ${10 * kept}`, `eu ${10 * last + 9}`]);
  // Keys that are said to be stolen take only their own along, and give way first.
  for (let key = kept; key < last; key++) stolen.add(hashOf(`key ${key}`));
  assert.equal(sizesOf(checkpointStore.contradicted), [`eu ${10 * last}`, `eu ${10 * last + 9}`]);
  await lie(99, 5);
  const again = await CheckpointStore.open(await home.reopen(), tree, signatories);
  for (const each of [checkpointStore, again]) {
    assert.equal(sizesOf(each.contradicted), ['eu 5', `eu ${10 * last + 9}`]);
  }
  // Nothing is said of a member all of whose keys were stolen.
  for (const key of [last, 99]) stolen.add(hashOf(`key ${key}`));
  assert.equal(again.contradicted, []);
});

test('of a member the newest by each of its last two keys are kept, also after a restart', async () => {
  await using home = await LogStore.open();
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(10));
  for (const [at, name] of ['one', 'two', 'three'].entries()) {
    assert.is(await checkpointStore.learn(known(at + 1, { keyId: hashOf(name) })), 'counted');
  }
  const kept = [hashOf('three'), hashOf('two')];
  assert.equal(
    checkpointStore.of(EU).map(({ checkpoint }) => checkpoint.keyId),
    kept,
  );
  const again = await CheckpointStore.open(await home.reopen(), new GrowingTree(10));
  assert.equal(
    again.of(EU).map(({ checkpoint }) => checkpoint.keyId),
    kept,
  );
  assert.is(again.shown().length, 2);
});

test('whoever stole keys that were revoked since takes no place from what their member signs', async () => {
  await using home = await LogStore.open();
  const stolen = new Set<string>();
  const signatories: Signatories = { rosters: () => [], stands: ({ keyId }) => !stolen.has(keyId), identityKeysOf };
  const tree = new GrowingTree(10);
  const checkpointStore = await CheckpointStore.open(home.store, tree, signatories);
  const by = (key: string, size: number, change: Partial<Checkpoint> = {}) =>
    known(size, { keyId: hashOf(key), ...change });
  await checkpointStore.learn(by('b', 9));
  for (const key of ['a', 'b']) stolen.add(hashOf(key));
  assert.is(checkpointStore.newest(EU), undefined);
  assert.equal(checkpointStore.all(), []);
  for (const key of ['a', 'b']) await checkpointStore.learn(by(key, 10, { vouched: { us: 99 } }));
  assert.is(await checkpointStore.learn(by('c', 8)), 'counted');
  const again = await CheckpointStore.open(await home.reopen(), tree, signatories);
  for (const each of [checkpointStore, again]) {
    assert.is(each.newest(EU)?.checkpoint.keyId, hashOf('c'));
    assert.equal(sizesOf(each.all()), ['eu 8']);
  }
  // Nor from what waits for this node's tree, or speaks against it.
  await again.learn(by('a', 1_000_000));
  await again.learn(by('c', 12));
  await again.learn(by('b', 2_000_000));
  assert.ok(again.signedBy(EU).some(({ size }) => size === 12));
  await again.learn(by('a', 7, FALSE));
  await again.learn(by('c', 10, FALSE));
  await again.learn(by('b', 9, FALSE));
  const last = await CheckpointStore.open(await home.reopen(), tree, signatories);
  for (const each of [again, last]) {
    assert.equal(
      each.contradicted.map(({ checkpoint }) => checkpoint.keyId),
      [hashOf('c')],
    );
  }
});

test('what a member signed far beyond the log by a key that was replaced since does not bind it for ever', async () => {
  await using home = await LogStore.open();
  const rotatedAt: { index: number } = { index: 1_000 };
  const stands: Signatories['stands'] = ({ keyId, size }) => keyId !== hashOf('first key') || size <= rotatedAt.index;
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(6), {
    rosters: () => [],
    stands,
    identityKeysOf,
  });
  await checkpointStore.learn(known(5));
  assert.is(await checkpointStore.learn(known(200, FALSE)), 'ahead');
  assert.equal(
    checkpointStore.signedBy(EU).map(({ size }) => size),
    [5, 200],
  );
  rotatedAt.index = 5;
  assert.equal(
    checkpointStore.signedBy(EU).map(({ size }) => size),
    [5],
  );
  assert.is(checkpointStore.signedTextsOf(EU).length, 2);
});

test('for a roster that was replaced one checkpoint of each of its members that covers the decision is kept for good', async () => {
  await using home = await LogStore.open();
  const stolen = new Set<string>();
  const signatories: Signatories = {
    rosters: () => [rosterOf(1, [EU, US], null, 4), rosterOf(2, [EU], 4, null)],
    stands: ({ keyId }) => !stolen.has(keyId),
    identityKeysOf,
  };
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(20), signatories);
  const byKey = (key: string, size: number, node = EU) => known(size, { node, keyId: hashOf(key) });
  await checkpointStore.learn(byKey('a', 4));
  assert.equal(sizesOf(checkpointStore.kept()), ['eu 4']);
  for (const [key, size] of [
    ['a', 5],
    ['b', 6],
    ['c', 7],
  ] as const) {
    await checkpointStore.learn(byKey(key, size));
  }
  assert.equal(sizesOf(checkpointStore.kept()), ['eu 7', 'eu 6', 'eu 5']);
  // Who is shown the newest needs no other.
  assert.is(checkpointStore.shown().length, 2);
  stolen.add(hashOf('b'));
  stolen.add(hashOf('c'));
  assert.is(checkpointStore.shown().length, 3);
  const again = await CheckpointStore.open(await home.reopen(), new GrowingTree(20), signatories);
  assert.equal(sizesOf(again.kept()), ['eu 7', 'eu 6', 'eu 5']);
  // One that falls gives way to one that stands, of whichever size.
  stolen.add(hashOf('a'));
  assert.is(await again.learn(byKey('d', 6)), 'counted');
  assert.ok(sizesOf(again.kept()).includes('eu 6'));
  assert.not.ok(sizesOf(again.kept()).includes('eu 5'));
  // The one that a member signed after its removal was decided, of whom nothing else comes any more.
  await again.learn(byKey('of us', 9, US));
  assert.ok(sizesOf(again.kept()).includes('us 9'));
});

test('what a member signs under another identity key takes no place of what counts within a roster before', async () => {
  await using home = await LogStore.open();
  const stolen = new Set<string>();
  const anew = encodeSignature(new Uint8Array([2]));
  const signatories: Signatories = {
    rosters: () => [rosterOf(1, [EU], null, 4), rosterOf(2, [EU], 4, null)],
    stands: ({ keyId }) => !stolen.has(keyId),
    identityKeysOf: ({ keyId }) => [keyId === hashOf('first key') ? IDENTITY_KEY : anew],
  };
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(20), signatories);
  await checkpointStore.learn(known(5));
  stolen.add(hashOf('first key'));
  for (const [i, key] of ['b', 'c'].entries()) await checkpointStore.learn(known(8 + i, { keyId: hashOf(key) }));
  assert.equal(sizesOf(checkpointStore.kept()), ['eu 9', 'eu 8', 'eu 5']);
  // Nothing newer says the same to whoever pinned that roster.
  assert.is(checkpointStore.shown().length, 3);
  const again = await CheckpointStore.open(await home.reopen(), new GrowingTree(20), signatories);
  assert.equal(sizesOf(again.kept()), ['eu 9', 'eu 8', 'eu 5']);
});

test('what is kept of a member serves for a roster as soon as that is replaced', async () => {
  await using home = await LogStore.open();
  let rosters = [rosterOf(1, [EU], null, null)];
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(20), {
    rosters: () => rosters,
    stands: () => true,
    identityKeysOf,
  });
  await checkpointStore.learn(known(9));
  rosters = [rosterOf(1, [EU], null, 8), rosterOf(2, [EU], 8, null)];
  await checkpointStore.reconsider();
  assert.equal((await replacedCheckpointTable.get(home.store, 1, EU))?.text, known(9).signed.text);
});

test('many at once end with the newest', async () => {
  await using home = await LogStore.open();
  const checkpointStore = await CheckpointStore.open(home.store, new GrowingTree(50));
  const sizes = [7, 3, 41, 12, 41, 1, 40];
  await Promise.all(sizes.map((size) => checkpointStore.learn(known(size))));
  assert.is(checkpointStore.newest(EU)?.checkpoint.size, 41);
  assert.is((await CheckpointStore.open(await home.reopen(), new GrowingTree(50))).newest(EU)?.checkpoint.size, 41);
});

test.run();
