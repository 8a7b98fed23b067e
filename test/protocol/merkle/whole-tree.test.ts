import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import { inclusionPath, merkleRoot } from '../../../protocol/merkle/tree.ts';
import { WholeTree } from '../../../protocol/merkle/whole-tree.ts';
import { CountedSuite } from './counted-suite.ts';
import { numberedLeaves } from './reference-tree.ts';

const leaves = numberedLeaves(nativeSuite, 300);

test('gives the roots and paths of RFC 9162, of every size', () => {
  for (let size = 1; size <= 70; size++) {
    const some = leaves.slice(0, size);
    const tree = WholeTree.of(nativeSuite, some);
    assert.is(encodeHex(tree.root()), encodeHex(merkleRoot(nativeSuite, some)), `root of ${size}`);
    for (let index = 0; index < size; index++) {
      const path = inclusionPath(nativeSuite, some, index).map(encodeHex);
      assert.equal(tree.path(index).map(encodeHex), path, `${index} of ${size}`);
    }
  }
});

test('hashes each inner node once, however many paths are taken', () => {
  const counted = new CountedSuite();
  const tree = WholeTree.of(counted, leaves);
  for (let index = 0; index < leaves.length; index++) tree.path(index);
  assert.is(counted.hashes, leaves.length - 1);
});

test('has no path of a leaf that is not in it, and no tree without leaves', () => {
  const tree = WholeTree.of(nativeSuite, leaves.slice(0, 3));
  for (const index of [-1, 3, 0.5]) assert.throws(() => tree.path(index), /not in the tree/);
  assert.throws(() => WholeTree.of(nativeSuite, []), /a tree has a leaf/);
});

test.run();
