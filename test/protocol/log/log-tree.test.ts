import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import { consistencyAt, LogTileError, pathAt, type ReadTile, rootAt } from '../../../protocol/log/log-tiles.ts';
import { LogTree } from '../../../protocol/log/log-tree.ts';
import { consistencyHolds } from '../../../protocol/merkle/consistency.ts';
import { rootFromPath } from '../../../protocol/merkle/inclusion.ts';
import { HASH_BYTES } from '../../../protocol/merkle/tiles.ts';
import { merkleRoot } from '../../../protocol/merkle/tree.ts';
import { fc } from '../../fixtures/properties.ts';
import { numberedLeaves, referencePath, referenceRoot } from '../merkle/reference-tree.ts';
import { TileStore } from './tile-store.ts';

const LARGEST = 65_536 + 513;
const EDGES = [1, 2, 3, 5, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 65_279, 65_535, 65_536, 65_537, 65_793];

const leaves = numberedLeaves(nativeSuite, LARGEST);
const grown = growBy(LARGEST);
const sizes = fc.oneof(
  fc.integer({ min: 1, max: 1100 }),
  fc.constantFrom(...EDGES),
  fc.integer({ min: 1, max: LARGEST }),
);

for (const size of EDGES) {
  test(`a log of ${size} has the root of the whole tree, and proves its entries`, async () => {
    const { store } = grown;
    const root = referenceRoot(nativeSuite, leaves.slice(0, size));
    assert.is(encodeHex(await rootAt(nativeSuite, size, store.read)), encodeHex(root));
    const places = [0, 1, 127, 128, 255, 256, 257, size - 257, size - 256, size - 2, size - 1];
    for (const index of new Set(places.filter((at) => at >= 0 && at < size))) {
      const path = await pathAt(nativeSuite, index, size, store.read);
      assert.is(encodeHex(walk(index, size, path)), encodeHex(root), `entry ${index}`);
      if (size > 1000 && index > 0 && index < size - 1) continue;
      assert.equal(path.map(encodeHex), referencePath(nativeSuite, index, leaves.slice(0, size)).map(encodeHex));
    }
  });
}

test('at any size it had, a log gives the root and the path of the naive tree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1100 }), fc.nat(), fc.boolean(), async (size, at, isWhole) => {
      const read = isWhole ? grown.store.readWhole : grown.store.read;
      const part = leaves.slice(0, size);
      const index = at % size;
      assert.is(encodeHex(await rootAt(nativeSuite, size, read)), encodeHex(referenceRoot(nativeSuite, part)));
      assert.equal(
        (await pathAt(nativeSuite, index, size, read)).map(encodeHex),
        referencePath(nativeSuite, index, part).map(encodeHex),
      );
    }),
    { numRuns: 150 },
  );
});

test('a proof of consistency holds between any two sizes, and for no other root', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, sizes, async (a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      const [first, second] = [await headAt(from), await headAt(to)];
      const proof = await consistencyAt(nativeSuite, from, to, grown.store.read);
      assert.ok(consistencyHolds(nativeSuite, first, second, proof), `${from} in ${to}`);
      const other = { size: from, root: nativeSuite.sha256(first.root) };
      assert.not(consistencyHolds(nativeSuite, other, second, proof));
      assert.not(consistencyHolds(nativeSuite, first, { size: to, root: other.root }, proof));
    }),
    { numRuns: 150 },
  );
});

test('a log that grows in runs of any length keeps the tiles and the root of one that grows at once', () => {
  const run = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 200, max: 600 }));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 12 }), (runs) => {
      let tree = LogTree.empty(nativeSuite);
      const store = new TileStore();
      for (const length of runs) {
        const next = tree.grow(leaves.slice(tree.size, tree.size + length));
        store.put(next.tiles);
        ({ tree } = next);
      }
      const once = growBy(tree.size);
      assert.is(encodeHex(tree.root()), encodeHex(merkleRoot(nativeSuite, leaves.slice(0, tree.size))));
      assert.equal(shown(store), shown(once.store));
    }),
    { numRuns: 40 },
  );
});

test('upper levels hold the roots of full tiles alone, and there is no empty tile', () => {
  const { store } = growBy(257);
  const widths = [...store.tiles].map(([name, hashes]) => `${name}.${hashes.length / HASH_BYTES}`).toSorted();
  assert.equal(widths, ['0/0.256', '0/1.1', '1/0.1']);
  const large = [...grown.store.tiles].filter(([name]) => !name.startsWith('0/'));
  assert.equal(large.map(([name, hashes]) => `${name}.${hashes.length / HASH_BYTES}`).toSorted(), [
    '1/0.256',
    '1/1.2',
    '2/0.1',
  ]);
});

test('growing leaves the log before as it was', () => {
  const { tree } = growBy(300);
  const root = encodeHex(tree.root());
  const once = tree.grow(leaves.slice(300, 900));
  const again = tree.grow(leaves.slice(300, 900));
  assert.is(tree.size, 300);
  assert.is(encodeHex(tree.root()), root);
  assert.is(encodeHex(once.tree.root()), encodeHex(again.tree.root()));
  assert.is(again.tiles.length, once.tiles.length);
});

test('a run of leaves changes the tiles that it falls into alone', () => {
  const { tiles } = growBy(300).tree.grow(leaves.slice(300, 301));
  assert.equal(
    tiles.map(({ level, index }) => `${level}/${index}`),
    ['0/1'],
  );
  const filled = growBy(511).tree.grow(leaves.slice(511, 513));
  assert.equal(
    filled.tiles.map(({ level, index }) => `${level}/${index}`),
    ['0/1', '0/2', '1/0'],
  );
  assert.equal(growBy(511).tree.grow([]).tiles, []);
});

test('a log opened from its tiles goes on as if it had never been closed', async () => {
  for (const size of [0, 1, 255, 256, 257, 512, 700, 65_535, 65_536, 65_537]) {
    const opened = await LogTree.open(nativeSuite, size, grown.store.readWhole);
    assert.is(opened.size, size);
    assert.is(encodeHex(opened.root()), encodeHex(merkleRoot(nativeSuite, leaves.slice(0, size))), `${size}`);
    const more = opened.grow(leaves.slice(size, size + 300)).tree.root();
    assert.is(encodeHex(more), encodeHex(merkleRoot(nativeSuite, leaves.slice(0, size + 300))), `${size} and more`);
  }
});

test('a proof reads at most two tiles a level, each once', async () => {
  const { store } = grown;
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), async (size, at) => {
      store.forgetReads();
      await pathAt(nativeSuite, at % size, size, store.read);
      assert.is(new Set(store.reads).size, store.reads.length);
      for (const level of ['0', '1', '2']) {
        assert.ok(store.reads.filter((name) => name.startsWith(`${level}/`)).length <= 2, `${size}: ${store.reads}`);
      }
      store.forgetReads();
      await rootAt(nativeSuite, size, store.read);
      assert.ok(store.reads.length <= 3);
    }),
    { numRuns: 200 },
  );
});

test('no tile, however false, makes more than a typed error or a proof that does not hold', async () => {
  const { store } = grown;
  const lie = fc.constantFrom<(hashes: Uint8Array) => Uint8Array>(
    () => new Uint8Array(),
    () => new Uint8Array(31),
    () => new Uint8Array(257 * HASH_BYTES),
    (hashes) => hashes.subarray(HASH_BYTES),
    (hashes) => hashes.subarray(1),
    (hashes) => hashes.map((byte) => byte ^ 1),
    (hashes) => Uint8Array.from([...hashes.subarray(HASH_BYTES), ...hashes.subarray(0, HASH_BYTES)]),
  );
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: LARGEST }), fc.nat(), lie, async (size, at, change) => {
      const read: ReadTile = async (level, index, width) => change(await store.read(level, index, width));
      const index = at % size;
      try {
        const path = await pathAt(nativeSuite, index, size, read);
        const isTrue =
          path.map(encodeHex).join() === (await pathAt(nativeSuite, index, size, store.read)).map(encodeHex).join();
        assert.is(encodeHex(walk(index, size, path)) === encodeHex((await headAt(size)).root), isTrue);
        await rootAt(nativeSuite, size, read);
        await consistencyAt(nativeSuite, index, size, read);
        await LogTree.open(nativeSuite, size, read);
      } catch (error) {
        assert.instance(error, LogTileError);
      }
    }),
    { numRuns: 300 },
  );
});

test('short and malformed tiles are told apart, and what is not in the log is refused', async () => {
  const give =
    (length: number): ReadTile =>
    async () =>
      new Uint8Array(length);
  await refuses('tile-short', rootAt(nativeSuite, 300, give(HASH_BYTES)));
  await refuses('tile-short', rootAt(nativeSuite, 300, give(0)));
  await refuses('tile-malformed', rootAt(nativeSuite, 300, give(45 * HASH_BYTES + 1)));
  await refuses('tile-malformed', rootAt(nativeSuite, 300, give(257 * HASH_BYTES)));
  for (const index of [-1, 300, 301, 0.5, Number.NaN, Infinity]) {
    await refuses('not-in-log', pathAt(nativeSuite, index, 300, grown.store.read));
  }
  for (const size of [-1, 0.5, Number.NaN, 2 ** 53]) {
    await refuses('not-in-log', rootAt(nativeSuite, size, grown.store.read));
    await refuses('not-in-log', consistencyAt(nativeSuite, size, 300, grown.store.read));
    await refuses('not-in-log', LogTree.open(nativeSuite, size, grown.store.read));
  }
  await refuses('not-in-log', pathAt(nativeSuite, 0, 0, grown.store.read));
  await refuses('not-in-log', consistencyAt(nativeSuite, 301, 300, grown.store.read));
  await refuses('tile-short', rootAt(nativeSuite, 2 ** 53 - 1, grown.store.read));
  assert.throws(
    () => LogTree.empty(nativeSuite).grow([new Uint8Array(31)]),
    (error: unknown) => error instanceof LogTileError,
  );
});

test('a log of leaves that were cut from large buffers keeps their bytes alone', () => {
  const large = new Uint8Array(100_000);
  const { tree } = LogTree.empty(nativeSuite).grow([large.subarray(0, HASH_BYTES)]);
  large.fill(1);
  assert.is(encodeHex(tree.root()), '00'.repeat(HASH_BYTES));
});

test('a log without entries has the hash of nothing as its root', async () => {
  assert.is(encodeHex(await rootAt(nativeSuite, 0, grown.store.read)), encodeHex(nativeSuite.sha256()));
  assert.is(encodeHex(LogTree.empty(nativeSuite).root()), encodeHex(nativeSuite.sha256()));
});

function growBy(size: number): { readonly tree: LogTree; readonly store: TileStore } {
  const store = new TileStore();
  const { tree, tiles } = LogTree.empty(nativeSuite).grow(leaves.slice(0, size));
  store.put(tiles);
  return { tree, store };
}

function shown(store: TileStore): string[] {
  return [...store.tiles].map(([name, hashes]) => `${name} ${encodeHex(nativeSuite.sha256(hashes))}`).toSorted();
}

async function headAt(size: number): Promise<{ readonly size: number; readonly root: Uint8Array }> {
  return { size, root: await rootAt(nativeSuite, size, grown.store.read) };
}

function walk(index: number, size: number, path: readonly Uint8Array[]): Uint8Array {
  return rootFromPath(nativeSuite, leaves[index] ?? new Uint8Array(), index, size, path) ?? new Uint8Array();
}

async function refuses(code: string, work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.instance(error, LogTileError);
  assert.is(error instanceof LogTileError ? error.code : '', code);
}

test.run();
