// npm run layers [-- --check | --root DIRECTORY]: the folders of node/ in their order of layers, with what each
// imports, its files, lines and median; then imports against the order and cycles, of folders and of files, in the
// whole repository. `--check` prints faults alone and ends with 1 where there are any: the lint runs it. `--root` looks
// at another checkout.
import { join } from 'node:path';
import { requireCommandLine } from '../node/config/command-line.ts';
import { type Layers, layersOf, medianOf, NODE_ORDER, nodeLayerOf, TOP_ORDER, topOf } from './layers/layers.ts';
import { readSources } from './layers/source-graph.ts';

const USAGE = 'npm run layers [-- --check | --root DIRECTORY]: the folders of node/ in their order of layers';
const { values } = requireCommandLine(USAGE, { check: { type: 'boolean' }, root: { type: 'string' } });
const sources = readSources(values.root ?? join(import.meta.dirname, '..'), TOP_ORDER);
const node = sources.filter(({ path }) => path.startsWith('node/'));
const inside = layersOf(node, NODE_ORDER, nodeLayerOf);
const whole = layersOf(sources, TOP_ORDER, topOf);
const faults = [...faultsOf(inside), ...faultsOf(whole)];
if (values.check !== true) print();
for (const fault of new Set(faults)) console.log(fault);
if (values.check === true && faults.length > 0) process.exitCode = 1;

function faultsOf({ unplaced, back, folderCycles, fileCycles }: Layers): string[] {
  return [
    ...unplaced.map((name) => `no layer: ${name} stands in no order of layers (scripts/layers/layers.ts)`),
    ...back.map((arrow) => `against the order: ${arrow}`),
    ...[...folderCycles, ...fileCycles].map((names) => `cycle: ${names.join(', ')}`),
  ];
}

function print(): void {
  console.log('     folder         files   lines  median  below 60  imports');
  inside.layers.forEach(({ name, files, lines, median, small, imports }, i) => {
    const figures = [files, lines, median, small].map((value, at) => String(value).padStart([5, 8, 8, 10][at] ?? 0));
    console.log(`${String(i + 1).padStart(3)}  ${name.padEnd(14)}${figures.join('')}  ${imports.join(' ')}`);
  });
  const folders = inside.layers.filter(({ name }) => !name.endsWith('.ts')).length;
  const lines = node.map((file) => file.lines);
  console.log(
    `\nnode/: ${folders} folders, ${node.length} files, ${lines.reduce((sum, count) => sum + count, 0)} lines, ` +
      `median ${medianOf(lines)}, ${inside.back.length} imports against the order, ` +
      `${inside.folderCycles.length} cycles of folders, ${inside.fileCycles.length} of files`,
  );
  console.log(
    `all: ${sources.length} files, ${whole.back.length} imports against the order ${TOP_ORDER.join(', ')}, ` +
      `${whole.fileCycles.length} cycles of files`,
  );
}
