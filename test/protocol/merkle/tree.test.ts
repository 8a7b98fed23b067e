import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { decodeHex, encodeHex } from '../../../protocol/bytes.ts';
import { Frontier } from '../../../protocol/merkle/frontier.ts';
import { leafHash } from '../../../protocol/merkle/hash.ts';
import { inclusionPath, isFull, merkleRoot, splitOf } from '../../../protocol/merkle/tree.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { fc } from '../../fixtures/properties.ts';
import { numberedLeaves, referencePath, referenceRoot } from './reference-tree.ts';

interface Fixture {
  readonly entries: readonly string[];
  readonly leaves: readonly string[];
  readonly emptyRoot: string;
  readonly roots: readonly string[];
  readonly paths: readonly { readonly index: number; readonly size: number; readonly path: readonly string[] }[];
}

const MAX_SIZE = 600;

const fixture: Fixture = JSON.parse(
  readFileSync(new URL('../../fixtures/merkle-rfc6962.json', import.meta.url), 'utf8'),
);
const leaves = numberedLeaves(nativeSuite, MAX_SIZE);

for (const suite of [nobleSuite, nativeSuite]) {
  test(`gives the leaves, roots and paths of the Certificate Transparency vectors (${suite.name})`, () => {
    const known = fixture.entries.map((entry) => leafHash(suite, decodeHex(entry)));
    assert.equal(known.map(encodeHex), fixture.leaves);
    assert.is(encodeHex(merkleRoot(suite, [])), fixture.emptyRoot);
    assert.equal(
      fixture.roots.map((_, i) => encodeHex(merkleRoot(suite, known.slice(0, i + 1)))),
      fixture.roots,
    );
    for (const { index, size, path } of fixture.paths) {
      assert.equal(inclusionPath(suite, known.slice(0, size), index).map(encodeHex), path, `${index} of ${size}`);
    }
  });
}

test(`a growing frontier has the RFC root at every size up to ${MAX_SIZE}`, () => {
  const frontier = new Frontier(nativeSuite);
  for (let size = 0; size <= MAX_SIZE; size++) {
    assert.is(frontier.size, size);
    assert.equal(Buffer.from(frontier.root()), Buffer.from(referenceRoot(nativeSuite, leaves.slice(0, size))));
    const next = leaves[size];
    if (next !== undefined) frontier.append(next);
  }
});

test('a frontier gives the same root whether or not it tells of full subtrees, and tells of each once', () => {
  const told: number[] = [];
  const loud = new Frontier(nativeSuite, (height) => (told[height] = (told[height] ?? 0) + 1));
  for (const leaf of leaves) loud.append(leaf);
  assert.equal(loud.root(), merkleRoot(nativeSuite, leaves));
  assert.equal(
    told,
    told.map((_, height) => Math.floor(MAX_SIZE / 2 ** height)),
  );
  assert.is(told.length, Math.floor(Math.log2(MAX_SIZE)) + 1);
});

test('inclusion paths are those of the RFC', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MAX_SIZE }), fc.nat(), (size, at) => {
      const tree = leaves.slice(0, size);
      const index = at % size;
      assert.equal(inclusionPath(nativeSuite, tree, index), referencePath(nativeSuite, index, tree));
    }),
  );
});

test('a leaf outside the tree has no path', () => {
  for (const index of [-1, 3, 1.5, Number.NaN]) {
    assert.throws(
      () => inclusionPath(nobleSuite, leaves.slice(0, 3), index),
      (error: unknown) => error instanceof RangeError,
    );
  }
});

test('a tree is full where its leaves are a power of two, to the last safe integer', () => {
  for (let height = 0; height <= 52; height++) {
    const leavesOfFull = 2 ** height;
    assert.ok(isFull(leavesOfFull));
    if (height > 1) assert.not(isFull(leavesOfFull - 1));
    if (height > 0) assert.not(isFull(leavesOfFull + 1));
  }
  assert.not(isFull(0));
  assert.not(isFull(Number.MAX_SAFE_INTEGER));
  assert.equal([2, 3, 4, 5, 8, 9].map(splitOf), [1, 2, 2, 4, 4, 8]);
});

test.run();
