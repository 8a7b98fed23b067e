import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { decodeHex, encodeHex } from '../../../protocol/bytes.ts';
import { consistencyAt } from '../../../protocol/log/log-tiles.ts';
import { LogTree } from '../../../protocol/log/log-tree.ts';
import { consistencyHolds, type TreeHead } from '../../../protocol/merkle/consistency.ts';
import { TileStore } from '../log/tile-store.ts';

const fixture: { readonly leaves: readonly string[]; readonly roots: readonly string[] } = JSON.parse(
  readFileSync(new URL('../../fixtures/merkle-rfc6962.json', import.meta.url), 'utf8'),
);

/** Of the same reference vectors of Certificate Transparency. */
const PROOFS: readonly (readonly [from: number, to: number, proof: readonly string[]])[] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];

const store = new TileStore();
store.put(LogTree.empty(nativeSuite).grow(fixture.leaves.map(decodeHex)).tiles);

test('the consistency proofs of the Certificate Transparency vectors are made and hold', async () => {
  for (const [from, to, proof] of PROOFS) {
    assert.equal((await consistencyAt(nativeSuite, from, to, store.read)).map(encodeHex), proof, `${from} in ${to}`);
    assert.ok(consistencyHolds(nativeSuite, head(from), head(to), proof.map(decodeHex)));
  }
});

test('a proof with a hash more, less, changed or moved does not hold', async () => {
  for (let to = 2; to <= 8; to++) {
    for (let from = 1; from < to; from++) {
      const proof = await consistencyAt(nativeSuite, from, to, store.read);
      const holds = (changed: readonly Uint8Array[]) => consistencyHolds(nativeSuite, head(from), head(to), changed);
      assert.ok(holds(proof));
      assert.not(holds(proof.slice(1)));
      assert.not(holds(proof.slice(0, -1)));
      assert.not(holds([...proof, head(1).root]));
      assert.not(holds([head(1).root, ...proof]));
      proof.forEach((_, at) => assert.not(holds(proof.map((hash, i) => (i === at ? nativeSuite.sha256(hash) : hash)))));
      if (proof.length > 1) assert.not(holds(proof.toReversed()));
    }
  }
});

test('a proof for a smaller or larger tree does not hold, whatever root is shown', async () => {
  const proof = (to: number) => consistencyAt(nativeSuite, 2, to, store.read);
  assert.not(consistencyHolds(nativeSuite, head(2), { size: 8, root: head(4).root }, await proof(4)));
  assert.not(consistencyHolds(nativeSuite, head(2), { size: 4, root: head(8).root }, await proof(8)));
});

test('sizes that no two trees have together never hold', () => {
  const bad = [-1, 0.5, Number.NaN, Infinity, 2 ** 53, 9];
  for (const size of bad) assert.not(consistencyHolds(nativeSuite, { ...head(8), size }, head(8), []));
  assert.not(consistencyHolds(nativeSuite, head(8), head(7), []));
  assert.not(consistencyHolds(nativeSuite, head(7), { ...head(8), size: 7 }, []));
  assert.not(consistencyHolds(nativeSuite, { size: 0, root: head(1).root }, head(1), []));
  assert.ok(consistencyHolds(nativeSuite, { size: 0, root: nativeSuite.sha256() }, head(1), []));
  assert.not(consistencyHolds(nativeSuite, { size: 0, root: nativeSuite.sha256() }, head(1), [head(1).root]));
});

function head(size: number): TreeHead {
  return { size, root: decodeHex(fixture.roots[size - 1] ?? '') };
}

test.run();
