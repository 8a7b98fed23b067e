import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import { rootFromPath } from '../../../protocol/merkle/inclusion.ts';
import { inclusionPath, merkleRoot } from '../../../protocol/merkle/tree.ts';
import { fc } from '../../fixtures/properties.ts';
import { numberedLeaves } from './reference-tree.ts';

const MAX_SIZE = 300;

const leaves = numberedLeaves(nativeSuite, MAX_SIZE);
const someLeaf = fc
  .integer({ min: 1, max: MAX_SIZE })
  .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }));

test('every leaf of every tree up to 70 leaves walks to its root', () => {
  for (let size = 1; size <= 70; size++) {
    const root = merkleRoot(nativeSuite, leaves.slice(0, size));
    for (let index = 0; index < size; index++) {
      assert.ok(holds(proofOf(index, size), root), `${index} of ${size}`);
    }
  }
});

test('any changed bit of leaf, path or root breaks the proof', () => {
  fc.assert(
    fc.property(someLeaf, fc.nat(), fc.nat(255), ({ index, size }, which, bit) => {
      const proof = proofOf(index, size);
      const parts = [merkleRoot(nativeSuite, leaves.slice(0, size)), proof.leaf, ...proof.path];
      const changed = parts.map((part, i) => (i === which % parts.length ? flipped(part, bit) : part));
      const [root = flipped(proof.leaf, 0), leaf = proof.leaf, ...path] = changed;
      assert.not(holds({ ...proof, leaf, path }, root));
    }),
  );
});

test('the proof of one leaf is the proof of no other place', () => {
  fc.assert(
    fc.property(someLeaf, fc.nat(MAX_SIZE + 10), ({ index, size }, other) => {
      const root = merkleRoot(nativeSuite, leaves.slice(0, size));
      assert.is(holds({ ...proofOf(index, size), index: other }, root), other === index);
    }),
  );
});

test('a path that is too short, too long or out of order leads nowhere', () => {
  fc.assert(
    fc.property(someLeaf, fc.nat(), ({ index, size }, at) => {
      const root = merkleRoot(nativeSuite, leaves.slice(0, size));
      const proof = proofOf(index, size);
      const { path } = proof;
      assert.is(rootFromPath(nativeSuite, proof.leaf, index, size, [...path, root]), null);
      assert.not(holds({ ...proof, path: [root, ...path] }, root));
      if (path.length > 0) assert.not(holds({ ...proof, path: path.toSpliced(at % path.length, 1) }, root));
      if (path.length > 1) assert.not(holds({ ...proof, path: path.toReversed() }, root));
    }),
  );
});

test('an inner node never passes for a leaf', () => {
  const [left, right] = leaves;
  assert.ok(left !== undefined && right !== undefined);
  const root = merkleRoot(nativeSuite, leaves.slice(0, 4));
  const inner = merkleRoot(nativeSuite, [left, right]);
  assert.not(holds({ leaf: inner, index: 0, size: 4, path: proofOf(0, 4).path.slice(1) }, root));
});

test('never throws, whatever index, size and path it is given', () => {
  const odd = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger(), fc.constantFrom(2 ** 53, 2 ** 60, -0, -1));
  const hashes = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 70 });
  fc.assert(
    fc.property(odd, odd, hashes, fc.uint8Array({ maxLength: 40 }), (index, size, path, leaf) => {
      const root = rootFromPath(nativeSuite, leaf, index, size, path);
      if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) {
        assert.is(root, null);
      }
    }),
  );
  assert.is(rootFromPath(nativeSuite, new Uint8Array(32), 2 ** 53 - 2, 2 ** 53 - 1, []), null);
  assert.is(rootFromPath(nativeSuite, new Uint8Array(32), 1, 1, []), null, 'the place behind the only leaf');
});

interface Proof {
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly path: readonly Uint8Array[];
}

function proofOf(index: number, size: number): Proof {
  const tree = leaves.slice(0, size);
  const leaf = tree[index];
  if (leaf === undefined) throw new RangeError('no such leaf');
  return { leaf, index, size, path: inclusionPath(nativeSuite, tree, index) };
}

function holds({ leaf, index, size, path }: Proof, root: Uint8Array): boolean {
  const walked = rootFromPath(nativeSuite, leaf, index, size, path);
  return walked !== null && equalBytes(walked, root);
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

test.run();
