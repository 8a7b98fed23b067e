// `npm run differential -- --bundles N --seed S`: generated bundles, judged by each way that there is to a verdict.
import { randomInt } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireCommandLine } from '../../node/config/command-line.ts';
import { requireWhole } from '../../scripts/command-line.ts';
import { differential } from './differential.ts';
import { browserJudge, commandJudge, libraryJudge } from './judges.ts';
import { nodeJudge } from './node-judge.ts';

const USAGE = `npm run differential -- [--bundles 10000] [--seed S]\n\nGenerated bundles, judged by the library, the command line, a browser and a node.`;
const { values } = requireCommandLine(USAGE, {
  bundles: { type: 'string', default: '10000' },
  seed: { type: 'string', default: String(randomInt(1e9)) },
});
const bundles = requireWhole(values, 'bundles', 1);
const seed = requireWhole(values, 'seed');
const judges = [libraryJudge(), commandJudge(), await browserJudge()];
console.log(`${bundles} bundles, seed ${seed}: ${judges.map(({ name }) => name).join(' · ')} · node`);
const started = Date.now();
const report = await differential({
  bundles,
  seed,
  judges,
  node: nodeJudge,
  onRound: (done) => console.log(`  ${done} judged`),
});
const { words, mutations, findings } = report;
print('by word', words);
print('by change', mutations);
if (findings.length > 0) {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-findings-'));
  for (const [i, { name, text, what }] of findings.entries()) {
    const file = join(folder, `${i}.json`);
    await writeFile(file, text);
    console.log(`FAIL ${file} (${name})\n${what}`);
  }
}
console.log(`${bundles} bundles, ${findings.length} findings, ${Math.round((Date.now() - started) / 1000)} s`);
process.exitCode = findings.length === 0 ? 0 : 1;

function print(title: string, counts: ReadonlyMap<string, number>): void {
  console.log(`${title}:`);
  for (const [name, count] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (!name.includes(',')) console.log(`  ${String(count).padStart(6)}  ${name}`);
  }
}
