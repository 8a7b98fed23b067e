import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { ProofTrees, type ProofTreesOptions, type ReadLeaves } from '../../../node/verification/proof-trees.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import type { Envelope } from '../../../protocol/chain/envelope.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { rootFromPath } from '../../../protocol/merkle/inclusion.ts';
import { TileTree } from '../../../protocol/merkle/tiles.ts';
import { WholeTree } from '../../../protocol/merkle/whole-tree.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { CountedSuite } from '../../protocol/merkle/counted-suite.ts';
import { numberedLeaves } from '../../protocol/merkle/reference-tree.ts';

const SIZE = 600;
const FIRST = 10;
const leaves = numberedLeaves(nativeSuite, SIZE);
const tiles = new Map<string, Uint8Array>();
const tree = new TileTree(nativeSuite);
for (const leaf of leaves) tree.append(leaf);
for (const { level, index, hashes } of tree.tiles()) tiles.set(`${level}/${index}`, hashes);
const root = writeSha256(tree.root());
const at = timestampOf(0);
const keyId = root;
const node = nodeId('eu');
const envelope: Envelope = {
  v: 2,
  type: 'batch',
  node,
  batch: 1,
  first: FIRST,
  size: SIZE,
  root,
  prev: null,
  from: at,
  sealedAt: at,
  keyId,
};

const group = { v: 1, type: 'group', node, first: FIRST, size: SIZE, root, keyId, signedAt: at } as const;

/** Trees, and what they have read and hashed. */
class Counted {
  readonly #suite = new CountedSuite();
  readonly trees: ProofTrees;
  reads = 0;

  constructor(limits: Pick<ProofTreesOptions, 'maxWholeBytes' | 'maxTopBytes'> = {}) {
    this.trees = new ProofTrees({ suite: this.#suite, ...limits });
  }

  get hashes(): number {
    return this.#suite.hashes;
  }

  readonly read = async (level: number, index: number): Promise<Uint8Array> => {
    this.reads++;
    const tile = tiles.get(`${level}/${index}`);
    if (tile === undefined) throw new Error('there is no such tile');
    return tile;
  };
}

/** Reads of these leaves. */
function leavesOf(all: readonly Uint8Array[]): ReadLeaves {
  return async (from, count) => all.slice(from, from + count);
}

function leadsToRoot(path: readonly Uint8Array[], i: number): boolean {
  const found = rootFromPath(nativeSuite, leaves[i] ?? new Uint8Array(), i, SIZE, path);
  return found !== null && writeSha256(found) === root;
}

test('each tile of a batch is read and hashed once, for all its paths', async () => {
  const found = new Counted();
  for (let i = 0; i < SIZE; i += 7) {
    assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + i, found.read), i), `${i}`);
  }
  assert.is(found.reads, tiles.size);
  assert.is(found.hashes, SIZE - 1);
});

test('a tile that is damaged is read anew, and what is above it is kept', async () => {
  const found = new Counted();
  const damaged = async (level: number, index: number) => {
    const tile = Uint8Array.from(await found.read(level, index));
    if (level === 0) tile[0] = (tile[0] ?? 0) ^ 1;
    return tile;
  };
  assert.not.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + 1, damaged), 1));
  const before = found.reads;
  assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + 1, found.read), 1));
  assert.is(found.reads, before + 1);
});

test('another batch of the same number has other trees', async () => {
  const found = new Counted();
  await found.trees.batchPath(envelope, FIRST, found.read);
  const before = found.reads;
  const rival = { ...envelope, root: writeSha256(nativeSuite.sha256('another')) };
  await found.trees.batchPath(rival, FIRST, found.read);
  assert.ok(found.reads > before);
});

test('a group is hashed once, unless its leaves are not those that were signed', async () => {
  const found = new Counted();
  const damaged = [nativeSuite.sha256('other'), ...leaves.slice(1)];
  assert.not.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 5, leavesOf(damaged)), 5));
  const before = found.hashes;
  for (let i = 0; i < 50; i++) {
    const path = await found.trees.groupPath(group, FIRST + i, leavesOf(leaves));
    assert.ok(leadsToRoot(path, i));
  }
  assert.is(found.hashes - before, SIZE - 1);
});

test('leaves of a batch are had of the tiles at hand, and read where there is none', async () => {
  const found = new Counted();
  await found.trees.batchPath(envelope, FIRST + 5, found.read);
  const before = found.reads;
  const leavesBetween = async (from: number, to: number) => {
    return (await found.trees.batchLeaves(envelope, FIRST + from, to - from, found.read)).map(encodeHex);
  };
  assert.equal(await leavesBetween(3, 253), leaves.slice(3, 253).map(encodeHex));
  assert.is(found.reads, before);
  assert.equal(await leavesBetween(250, 600), leaves.slice(250, 600).map(encodeHex));
  assert.is(found.reads, before + 2);
});

/** Enough for one whole tree of a tile, or of the group: all others are let go. */
const ONE_TILE = 20 << 10;
const ONE_GROUP = 44 << 10;

/** Trees of a batch, those of tiles 0 and 1 let go. */
async function tilesLetGo(): Promise<Counted> {
  const found = new Counted({ maxWholeBytes: ONE_TILE });
  for (const i of [0, 300, 599]) await found.trees.batchPath(envelope, FIRST + i, found.read);
  return found;
}

/** Takes a path of the group, and lets its tree go for one of another. */
async function groupLetGo(found: Counted): Promise<void> {
  await found.trees.groupPath(group, FIRST, leavesOf(leaves));
  const others = leaves.toReversed();
  const otherRoot = WholeTree.of(nativeSuite, others).root();
  const other = { ...group, root: writeSha256(otherRoot) };
  await found.trees.groupPath(other, FIRST, leavesOf(others));
}

test('of a tile that is let go the upper part is kept: a path costs the hashes of a block', async () => {
  const found = await tilesLetGo();
  const [reads, hashes] = [found.reads, found.hashes];
  for (const i of [20, 31, 47]) {
    assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + i, found.read), i));
  }
  assert.is(found.reads, reads + 3);
  assert.is(found.hashes, hashes + 3 * 15);
});

test('a tile whose upper part is kept is read anew where it is damaged in the block, and is not asked for elsewhere', async () => {
  const found = await tilesLetGo();
  const damagedAt = (place: number) => async (level: number, index: number) => {
    const tile = Uint8Array.from(await found.read(level, index));
    if (level === 0) tile[32 * place] = (tile[32 * place] ?? 0) ^ 1;
    return tile;
  };
  assert.not.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + 20, damagedAt(21)), 20));
  assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + 20, damagedAt(70)), 20));
  assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + 20, found.read), 20));
});

test('a tile that is short or longer than it should be gives no path that its block does not lead to', async () => {
  const found = await tilesLetGo();
  const short = async (level: number, index: number) => (await found.read(level, index)).slice(0, 32 * 25);
  const odd = async (level: number, index: number) => (await found.read(level, index)).slice(0, -1);
  const longer = async (level: number, index: number) => {
    const tile = await found.read(level, index);
    return Buffer.concat([tile, tile.subarray(0, 32)]);
  };
  for (const read of [short, odd]) {
    try {
      await found.trees.batchPath(envelope, FIRST + 20, read);
      assert.unreachable();
    } catch (error) {
      assert.instance(error, RangeError);
    }
  }
  assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + 20, longer), 20));
  try {
    await new Counted().trees.batchPath(envelope, FIRST + 20, longer);
    assert.unreachable();
  } catch (error) {
    assert.instance(error, RangeError);
  }
});

test('of a group that is let go a path costs the hashes of a block, and the whole where its leaves are others', async () => {
  const found = new Counted({ maxWholeBytes: ONE_GROUP });
  await groupLetGo(found);
  const asked: (readonly [number, number])[] = [];
  const read = async (from: number, count: number) => {
    asked.push([from, count]);
    return leaves.slice(from, from + count);
  };
  const before = found.hashes;
  assert.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 70, read), 70));
  assert.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 599, read), 599));
  assert.is(found.hashes - before, 63 + 23);
  const damaged = async (from: number, count: number) =>
    (await read(from, count)).map((leaf, i) => (from + i === 70 ? nativeSuite.sha256('other') : leaf));
  assert.not.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 71, damaged), 71));
  assert.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 71, read), 71));
  assert.equal(asked, [
    [64, 64],
    [576, 24],
    [64, 64],
    [0, SIZE],
    [64, 64],
  ]);
});

test('a group that many paths are taken of is whole again', async () => {
  const found = new Counted({ maxWholeBytes: ONE_GROUP });
  await groupLetGo(found);
  const before = found.hashes;
  for (let i = 0; i < 100; i++) {
    const path = await found.trees.groupPath(group, FIRST + i, leavesOf(leaves));
    assert.ok(leadsToRoot(path, i));
  }
  assert.ok(found.hashes - before <= 16 * 63 + SIZE - 1, `${found.hashes - before}`);
});

test('leaves of tiles that are let go are read, no more of each than is asked for', async () => {
  const found = await tilesLetGo();
  const before = found.reads;
  const read = await found.trees.batchLeaves(envelope, FIRST + 250, 10, found.read);
  assert.equal(read.map(encodeHex), leaves.slice(250, 260).map(encodeHex));
  assert.is(found.reads, before + 2);
});

test('no more is kept, whole or in part, than was allowed', async () => {
  const costOf = async (maxTopBytes: number): Promise<number> => {
    const found = new Counted({ maxWholeBytes: ONE_TILE, maxTopBytes });
    for (const i of [0, 300, 599]) await found.trees.batchPath(envelope, FIRST + i, found.read);
    const before = found.hashes;
    await found.trees.batchPath(envelope, FIRST + 1, found.read);
    return found.hashes - before;
  };
  assert.is(await costOf(1 << 20), 15);
  assert.is(await costOf(1 << 10), 255);
});

test.run();
