import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { ProofTrees, type ProofTreesOptions } from '../../../node/verification/proof-trees.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import type { Envelope } from '../../../protocol/chain/envelope.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { Sha256 } from '../../../protocol/merkle/hash.ts';
import { rootFromPath } from '../../../protocol/merkle/inclusion.ts';
import { TileTree } from '../../../protocol/merkle/tiles.ts';
import { timestampOf } from '../../../protocol/time.ts';
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

interface Counted {
  readonly trees: ProofTrees;
  readonly read: (level: number, index: number) => Promise<Uint8Array>;
  reads: number;
  hashes: number;
}

function counted(limits: Pick<ProofTreesOptions, 'maxWholeBytes' | 'maxTopBytes'> = {}): Counted {
  const sha256: Sha256['sha256'] = (...parts) => {
    found.hashes++;
    return nativeSuite.sha256(...parts);
  };
  const found: Counted = {
    trees: new ProofTrees({ suite: { sha256 }, ...limits }),
    async read(level, index) {
      found.reads++;
      const tile = tiles.get(`${level}/${index}`);
      if (tile === undefined) throw new Error('there is no such tile');
      return tile;
    },
    reads: 0,
    hashes: 0,
  };
  return found;
}

function leadsToRoot(path: readonly Uint8Array[], i: number): boolean {
  const found = rootFromPath(nativeSuite, leaves[i] ?? new Uint8Array(), i, SIZE, path);
  return found !== null && writeSha256(found) === root;
}

test('each tile of a batch is read and hashed once, for all its paths', async () => {
  const found = counted();
  for (let i = 0; i < SIZE; i += 7) {
    assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + i, found.read), i), `${i}`);
  }
  assert.is(found.reads, tiles.size);
  assert.is(found.hashes, SIZE - 1);
});

test('a tile that is damaged is read anew, and what is above it is kept', async () => {
  const found = counted();
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
  const found = counted();
  await found.trees.batchPath(envelope, FIRST, found.read);
  const before = found.reads;
  const rival = { ...envelope, root: writeSha256(nativeSuite.sha256('another')) };
  await found.trees.batchPath(rival, FIRST, found.read);
  assert.ok(found.reads > before);
});

test('a group is hashed once, unless its leaves are not those that were signed', async () => {
  const found = counted();
  const group = { v: 1, type: 'group', node, first: FIRST, size: SIZE, root, keyId, signedAt: at } as const;
  const damaged = [nativeSuite.sha256('other'), ...leaves.slice(1)];
  assert.not.ok(
    leadsToRoot(
      await found.trees.groupPath(group, FIRST + 5, async (from, count) => damaged.slice(from, from + count)),
      5,
    ),
  );
  const before = found.hashes;
  for (let i = 0; i < 50; i++) {
    const path = await found.trees.groupPath(group, FIRST + i, async (from, count) => leaves.slice(from, from + count));
    assert.ok(leadsToRoot(path, i));
  }
  assert.is(found.hashes - before, SIZE - 1);
});

test('leaves of a batch are had of the tiles at hand, and read where there is none', async () => {
  const found = counted();
  await found.trees.batchPath(envelope, FIRST + 5, found.read);
  const before = found.reads;
  const leavesOf = async (from: number, to: number) => {
    return (await found.trees.batchLeaves(envelope, FIRST + from, to - from, found.read)).map(encodeHex);
  };
  assert.equal(await leavesOf(3, 253), leaves.slice(3, 253).map(encodeHex));
  assert.is(found.reads, before);
  assert.equal(await leavesOf(250, 600), leaves.slice(250, 600).map(encodeHex));
  assert.is(found.reads, before + 2);
});

/** Room for one whole tree of a tile: all others are let go. */
const ONE_TILE = 20 << 10;

test('of trees that are let go the upper parts are kept: a path of a batch costs the hashes of a block of each tile', async () => {
  const found = counted({ maxWholeBytes: ONE_TILE });
  for (const i of [0, 300, 599]) await found.trees.batchPath(envelope, FIRST + i, found.read);
  const [reads, hashes] = [found.reads, found.hashes];
  assert.ok(leadsToRoot(await found.trees.batchPath(envelope, FIRST + 20, found.read), 20));
  assert.is(found.reads, reads + 1);
  assert.is(found.hashes, hashes + 15);
});

test('a group that is let go costs the hashes of a block, and the whole again where its leaves are not those', async () => {
  const found = counted({ maxWholeBytes: ONE_TILE });
  const asked: (readonly [number, number])[] = [];
  const group = { v: 1, type: 'group', node, first: FIRST, size: SIZE, root, keyId, signedAt: at } as const;
  const read = async (from: number, count: number) => {
    asked.push([from, count]);
    return leaves.slice(from, from + count);
  };
  assert.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 5, read), 5));
  const before = found.hashes;
  assert.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 70, read), 70));
  assert.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 599, read), 599));
  assert.equal(asked, [
    [0, SIZE],
    [64, 64],
    [576, 24],
  ]);
  assert.is(found.hashes - before, 63 + 23);
  const damaged = async (from: number, count: number) =>
    (await read(from, count)).map((leaf, i) => (from + i === 70 ? nativeSuite.sha256('other') : leaf));
  assert.not.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 71, damaged), 71));
  assert.equal(asked.slice(3), [
    [64, 64],
    [0, SIZE],
  ]);
  assert.ok(leadsToRoot(await found.trees.groupPath(group, FIRST + 71, read), 71));
});

test('no more is kept than there is room for', async () => {
  const found = counted({ maxWholeBytes: ONE_TILE, maxTopBytes: 1 << 10 });
  for (const i of [0, 300, 599, 0]) {
    assert.ok(encodeHex((await found.trees.batchPath(envelope, FIRST + i, found.read))[0] ?? new Uint8Array()));
  }
  assert.ok(found.reads > tiles.size);
});

test.run();
