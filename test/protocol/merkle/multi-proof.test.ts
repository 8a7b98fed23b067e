import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import { JointPath, multiProof, type PlacedLeaf } from '../../../protocol/merkle/multi-proof.ts';
import { inclusionPath, merkleRoot } from '../../../protocol/merkle/tree.ts';
import { fc } from '../../fixtures/properties.ts';
import { numberedLeaves } from './reference-tree.ts';

const MAX_SIZE = 200;
const leaves = numberedLeaves(nativeSuite, MAX_SIZE);
const someLeaves = fc
  .integer({ min: 1, max: MAX_SIZE })
  .chain((size) => fc.record({ size: fc.constant(size), indices: fc.uniqueArray(fc.nat(size - 1), { minLength: 1 }) }));

function proofOf(indices: readonly number[], size: number): Promise<Uint8Array[]> {
  const tree = leaves.slice(0, size);
  return multiProof(indices, size, async (index) => inclusionPath(nativeSuite, tree, index));
}

function placed(indices: readonly number[]): PlacedLeaf[] {
  return indices.map((index) => ({ index, leaf: leaves[index] ?? new Uint8Array() }));
}

function leadsTo(root: Uint8Array, joint: JointPath, index: number, size: number): boolean {
  const found = joint.rootOf(leaves[index] ?? new Uint8Array(), index, size);
  return found !== null && equalBytes(found, root);
}

test('any leaves of any tree lead to its root together, and no other leaf does', async () => {
  await fc.assert(
    fc.asyncProperty(someLeaves, async ({ size, indices: unsorted }) => {
      const indices = unsorted.toSorted((a, b) => a - b);
      const root = merkleRoot(nativeSuite, leaves.slice(0, size));
      const joint = new JointPath(nativeSuite, placed(indices), size, await proofOf(indices, size));
      for (let index = 0; index < size; index++) {
        assert.is(leadsTo(root, joint, index, size), indices.includes(index), `${index} of ${size}`);
      }
    }),
  );
});

test('a changed hash, one that is missing and one too many lead to no root', async () => {
  await fc.assert(
    fc.asyncProperty(someLeaves, fc.nat(), async ({ size, indices: unsorted }, which) => {
      const indices = unsorted.toSorted((a, b) => a - b);
      const root = merkleRoot(nativeSuite, leaves.slice(0, size));
      const siblings = await proofOf(indices, size);
      const [first = 0] = indices;
      const holds = (path: readonly Uint8Array[]) =>
        leadsTo(root, new JointPath(nativeSuite, placed(indices), size, path), first, size);
      assert.not(holds([...siblings, new Uint8Array(32)]));
      if (siblings.length === 0) return;
      const at = which % siblings.length;
      assert.not(holds(siblings.filter((_, i) => i !== at)));
      assert.not(holds(siblings.map((hash, i) => (i === at ? hash.map((byte) => byte ^ 1) : hash))));
    }),
  );
});

test('leaves out of order, twice, or of no place in the tree lead to no root', async () => {
  const root = merkleRoot(nativeSuite, leaves.slice(0, 9));
  const siblings = await proofOf([2, 5], 9);
  for (const indices of [
    [5, 2],
    [2, 2],
    [2, 9],
    [-1, 5],
  ]) {
    assert.not(leadsTo(root, new JointPath(nativeSuite, placed(indices), 9, siblings), 2, 9));
  }
  assert.not(leadsTo(root, new JointPath(nativeSuite, placed([2, 5]), 9, siblings), 2, 8));
});

test('a leaf beside another in its place, and one past the end of the tree, are led to the root by no path', async () => {
  const root = merkleRoot(nativeSuite, leaves.slice(0, 9));
  const [forged] = placed([7]);
  const [real] = placed([2]);
  const [last] = placed([8]);
  assert.ok(forged && real && last);
  const twice = [real, { ...forged, index: 2 }];
  const past = [{ ...last, index: 9 }];
  for (const [held, siblings] of [
    [twice, await proofOf([2], 9)],
    [past, await proofOf([8], 9)],
  ] as const) {
    const joint = new JointPath(nativeSuite, held, 9, siblings);
    for (const { leaf, index } of held) assert.is(joint.rootOf(leaf, index, 9), null, `${index}`);
  }
  const alone = new JointPath(nativeSuite, [real], 9, await proofOf([2], 9));
  assert.equal(alone.rootOf(real.leaf, 2, 9), root);
});

test('leaves that share most of their way take few hashes', async () => {
  const all = Array.from({ length: 128 }, (_, i) => i);
  assert.is((await proofOf(all, 128)).length, 0);
  assert.ok((await proofOf(all.slice(10, 60), 128)).length < 12);
});

test.run();
