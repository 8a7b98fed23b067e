import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { layersOf, medianOf, NODE_ORDER, nodeLayerOf, TOP_ORDER, topOf } from '../../scripts/layers/layers.ts';
import { cyclesOf, readSources, type SourceFile } from '../../scripts/layers/source-graph.ts';

const ROOT = join(import.meta.dirname, '../..');

function source(path: string, ...imports: string[]): SourceFile {
  return { path, lines: 1, imports };
}

test('no file of the repository imports against the order of layers, and none is in a cycle', () => {
  const sources = readSources(ROOT, TOP_ORDER);
  const node = sources.filter(({ path }) => path.startsWith('node/'));
  assert.ok(node.length > 100);
  for (const { unplaced, back, folderCycles, fileCycles } of [
    layersOf(node, NODE_ORDER, nodeLayerOf),
    layersOf(sources, TOP_ORDER, topOf),
  ]) {
    assert.equal(
      { unplaced, back, folderCycles, fileCycles },
      { unplaced: [], back: [], folderCycles: [], fileCycles: [] },
    );
  }
});

test('imports of values and of types, re-exports and late imports are all read, and nothing else', async () => {
  const root = await mkdtemp(join(tmpdir(), 'meridian-layers-'));
  try {
    const texts = {
      'node/a/one.ts':
        "import type { B } from '../b/two.ts';\nexport { c } from './three.ts';\nconst d = await import('./four.ts');\n",
      'node/a/three.ts':
        "import {\n  e,\n} from './four.ts';\nimport 'node:fs';\n// new URL('./one.ts', import.meta.url)\n",
      'node/a/four.ts': '',
      'node/b/two.ts': "import { gone } from './gone.ts';\n",
    };
    for (const [path, text] of Object.entries(texts)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    assert.equal(
      readSources(root, ['node']).map(({ path, lines, imports }) => [path, lines, imports]),
      [
        ['node/a/four.ts', 0, []],
        ['node/a/one.ts', 3, ['node/b/two.ts', 'node/a/three.ts', 'node/a/four.ts']],
        ['node/a/three.ts', 5, ['node/a/four.ts']],
        ['node/b/two.ts', 1, []],
      ],
    );
  } finally {
    await rm(root, { recursive: true });
  }
});

test('an import against the order, a folder without a place and cycles are found', () => {
  const sources = [
    source('node/low/a.ts', 'node/high/b.ts'),
    source('node/high/b.ts', 'node/low/c.ts'),
    source('node/low/c.ts', 'node/low/d.ts'),
    source('node/low/d.ts', 'node/low/c.ts'),
    source('node/new/e.ts'),
  ];
  const found = layersOf(sources, ['low', 'high'], nodeLayerOf);
  assert.equal(found.unplaced, ['new']);
  assert.equal(found.back, ['node/low/a.ts -> node/high/b.ts']);
  assert.equal(found.folderCycles, [['high', 'low']]);
  assert.equal(found.fileCycles, [['node/low/c.ts', 'node/low/d.ts']]);
  assert.equal(
    found.layers.map(({ name, files, imports }) => [name, files, imports]),
    [
      ['low', 3, ['high']],
      ['high', 1, ['low']],
      ['new', 1, []],
    ],
  );
});

test('two cycles that share a way are told apart from nodes that only reach them', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['b']],
    ['d', ['e']],
    ['e', ['f']],
    ['f', ['d', 'g']],
    ['g', []],
  ]);
  assert.equal(cyclesOf(graph).toSorted(), [
    ['b', 'c'],
    ['d', 'e', 'f'],
  ]);
});

test('the median of an even number of files is between the two in the middle', () => {
  assert.equal([medianOf([]), medianOf([7]), medianOf([1, 9, 2]), medianOf([4, 1, 10, 2])], [0, 7, 2, 3]);
});

test.run();
