import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import { pathFromTiles, splitHashes, TILE_WIDTH, treeOfTile, TileTree } from '../../../protocol/merkle/tiles.ts';
import { merkleRoot } from '../../../protocol/merkle/tree.ts';
import { rootFromPath } from '../../../protocol/merkle/inclusion.ts';
import { numberedLeaves, referencePath } from './reference-tree.ts';

const SMALL_SIZES = [1, 2, 3, 5, 255, 256, 257, 300, 511, 512, 513, 767, 1025];
const LARGE_SIZES = [65_535, 65_536, 65_537, 65_536 + 257];

const leaves = numberedLeaves(nativeSuite, Math.max(...LARGE_SIZES));

for (const size of SMALL_SIZES) {
  test(`tiles prove every leaf of ${size} as the whole tree does`, async () => {
    const tree = treeOf(size);
    const read = readerOf(tree);
    for (let index = 0; index < size; index += size > 600 ? 7 : 1) {
      assert.equal(
        hex(await pathBy(index, size, read)),
        hex(referencePath(nativeSuite, index, leaves.slice(0, size))),
        `leaf ${index}`,
      );
    }
  });
}

for (const size of LARGE_SIZES) {
  test(`tiles prove the leaves at the edges of ${size}`, async () => {
    const tree = treeOf(size);
    const read = readerOf(tree);
    const root = tree.root();
    assert.equal(root, merkleRoot(nativeSuite, leaves.slice(0, size)));
    const edges = [0, 1, 255, 256, 257, 32_767, 32_768, size - 258, size - 257, size - 256, size - 2, size - 1];
    for (const index of edges) {
      const leaf = leaves[index];
      assert.ok(leaf);
      const path = await pathBy(index, size, read);
      assert.equal(rootFromPath(nativeSuite, leaf, index, size, path), root, `leaf ${index}`);
    }
    assert.equal(
      hex(await pathBy(size - 1, size, read)),
      hex(referencePath(nativeSuite, size - 1, leaves.slice(0, size))),
    );
  });
}

test('a tree of leaves that were cut from large buffers keeps their bytes alone', () => {
  const tree = new TileTree(nativeSuite);
  const large = new Uint8Array(100_000);
  tree.append(large.subarray(0, 32));
  large.fill(1);
  const [tile] = tree.tiles();
  assert.is(tile?.hashes.buffer.byteLength, 32);
  assert.equal(
    [...(tile?.hashes ?? [])],
    Array.from({ length: 32 }, () => 0),
  );
  assert.equal(
    [...tree.root()],
    Array.from({ length: 32 }, () => 0),
  );
  assert.throws(() => tree.append(large.subarray(0, 31)), RangeError);
});

test('a tile of bytes that are no whole number of hashes is refused', () => {
  for (const length of [1, 31, 33, 95]) assert.throws(() => splitHashes(new Uint8Array(length)), RangeError);
  for (const hashes of [0, 1, 3]) assert.is(splitHashes(new Uint8Array(32 * hashes)).length, hashes);
});

test('a tree can be cut into tiles at any size and go on growing', async () => {
  const tree = new TileTree(nativeSuite);
  for (const [i, leaf] of leaves.slice(0, 520).entries()) {
    tree.append(leaf);
    if (i % 37 !== 0 && i % 256 > 1) continue;
    const size = i + 1;
    assert.is(tree.size, size);
    assert.is(encodeHex(tree.root()), encodeHex(merkleRoot(nativeSuite, leaves.slice(0, size))));
    assert.equal(hex(await pathBy(i, size, readerOf(tree))), hex(referencePath(nativeSuite, i, leaves.slice(0, size))));
  }
});

test('a proof reads one tile a level, of at most 256 hashes', async () => {
  const size = 65_537;
  const read = readerOf(treeOf(size));
  const seen: string[] = [];
  await pathBy(40_000, size, async (level, index) => {
    seen.push(`${level}/${index}`);
    const tile = await read(level, index);
    assert.ok(splitHashes(tile).length <= TILE_WIDTH);
    return tile;
  });
  assert.equal(seen, ['0/156', '1/0', '2/0']);
});

test('a tile that is short, long or ragged, and a leaf that is not there, are errors', async () => {
  const size = 300;
  const read = readerOf(treeOf(size));
  const isRangeError = (error: unknown) => error instanceof RangeError;
  const wrong: readonly ((tile: Uint8Array) => Uint8Array)[] = [
    (tile) => tile.subarray(32),
    (tile) => tile.subarray(1),
    (tile) => Uint8Array.from([...tile, ...new Uint8Array(32)]),
    () => new Uint8Array(),
  ];
  for (const change of wrong) {
    await assertRejects(
      pathBy(280, size, async (level, index) => change(await read(level, index))),
      isRangeError,
    );
  }
  for (const index of [-1, size, size + 1, 1.5, Number.NaN]) {
    await assertRejects(
      pathBy(index, size, async () => new Uint8Array(32 * 44)),
      isRangeError,
    );
  }
});

function hex(hashes: readonly Uint8Array[]): string[] {
  return hashes.map(encodeHex);
}

function treeOf(size: number): TileTree {
  const tree = new TileTree(nativeSuite);
  for (const leaf of leaves.slice(0, size)) tree.append(leaf);
  return tree;
}

/** Reads tiles as a store would: from what `tiles()` gave at this size. */
function readerOf(tree: TileTree): (level: number, index: number) => Promise<Uint8Array> {
  const kept = new Map([...tree.tiles()].map((tile) => [`${tile.level}/${tile.index}`, tile.hashes]));
  return async (level, index) => {
    const tile = kept.get(`${level}/${index}`);
    if (tile === undefined) throw new RangeError(`no tile ${level}/${index}`);
    return tile;
  };
}

async function assertRejects(promise: Promise<unknown>, expected: (error: unknown) => boolean): Promise<void> {
  const outcome = await promise.then(
    () => 'resolved',
    (error: unknown) => error,
  );
  assert.ok(expected(outcome), String(outcome));
}

function pathBy(
  index: number,
  size: number,
  read: (level: number, index: number) => Promise<Uint8Array>,
): Promise<Uint8Array[]> {
  return pathFromTiles(index, size, async (level, tile, width) =>
    treeOfTile(nativeSuite, await read(level, tile), width),
  );
}

test.run();
