import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { encodeHex } from '../../../protocol/bytes.ts';
import { TreeTop } from '../../../protocol/merkle/tree-top.ts';
import { WholeTree } from '../../../protocol/merkle/whole-tree.ts';
import { CountedSuite } from './counted-suite.ts';
import { numberedLeaves } from './reference-tree.ts';

const HEIGHT = 3;
const leaves = numberedLeaves(nativeSuite, 70);

test('with the leaves of one block it has the root, leaves and paths of the whole tree, of every size', () => {
  for (let size = 2 ** HEIGHT + 1; size <= leaves.length; size++) {
    const tree = WholeTree.of(nativeSuite, leaves.slice(0, size));
    const top = new TreeTop(nativeSuite, tree, HEIGHT);
    assert.is(encodeHex(top.root()), encodeHex(tree.root()), `root of ${size}`);
    for (let index = 0; index < size; index++) {
      const { from, to } = top.blockOf(index);
      assert.ok(from <= index && index < to && to - from <= 2 ** HEIGHT, `block of ${index} of ${size}`);
      const opened = top.open(from, leaves.slice(from, to));
      assert.equal(opened?.path(index).map(encodeHex), tree.path(index).map(encodeHex), `${index} of ${size}`);
      assert.equal(opened?.leaf(index), tree.leaf(index));
      assert.equal(opened?.root(), tree.root());
    }
  }
});

test('leaves of another block, changed ones, and more or fewer of them open nothing', () => {
  const top = new TreeTop(nativeSuite, WholeTree.of(nativeSuite, leaves), HEIGHT);
  const block = leaves.slice(8, 16);
  assert.ok(top.open(8, block));
  const changed = [...block.slice(0, 7), leaves[0] ?? new Uint8Array()];
  for (const [from, given] of [
    [16, block],
    [8, changed],
    [8, block.toReversed()],
    [8, block.slice(0, 7)],
    [8, leaves.slice(8, 17)],
    [8, []],
  ] as const) {
    assert.is(top.open(from, given), undefined);
  }
});

test('it has no path of a leaf of another block', () => {
  const top = new TreeTop(nativeSuite, WholeTree.of(nativeSuite, leaves), HEIGHT);
  const opened = top.open(8, leaves.slice(8, 16));
  for (const index of [7, 16]) assert.throws(() => opened?.path(index), /not in the tree/);
});

test('a path costs the hashes of a block, and the top as many bytes as its nodes', () => {
  const counted = new CountedSuite();
  const top = new TreeTop(counted, WholeTree.of(nativeSuite, leaves), HEIGHT);
  top.open(8, leaves.slice(8, 16))?.path(9);
  assert.is(counted.hashes, 7);
  // 70 leaves are nine blocks: 9 + 5 + 3 + 2 + 1 nodes.
  assert.is(top.bytes, 20 * 32);
});

test('a tree that is not so high has no top', () => {
  const tree = WholeTree.of(nativeSuite, leaves.slice(0, 4));
  assert.throws(() => new TreeTop(nativeSuite, tree, HEIGHT), /not so high/);
});

test.run();
