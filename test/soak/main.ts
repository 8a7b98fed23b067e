// `npm run soak -- --kills N --seed S [--from K] [--check-every N]`: nodes under load, killed at random moments. The
// same seed kills the same nodes; `--from` goes on with a later kill, on a federation made again. Ctrl-C ends it with a
// check.
import { randomInt } from 'node:crypto';
import { requireCommandLine } from '../../node/config/command-line.ts';
import { requireWhole } from '../../scripts/command-line.ts';
import { soak } from './soak.ts';

const USAGE = `npm run soak -- [--kills 1000] [--seed S] [--from K] [--check-every 100]\n\nNodes under load, killed at random moments; the same seed kills the same nodes.`;
const { values } = requireCommandLine(USAGE, {
  kills: { type: 'string', default: '1000' },
  seed: { type: 'string', default: String(randomInt(1e9)) },
  from: { type: 'string', default: '0' },
  'check-every': { type: 'string', default: '100' },
});
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());

const seed = requireWhole(values, 'seed');
const from = requireWhole(values, 'from');
const kills = requireWhole(values, 'kills');
const checkEvery = Math.max(1, requireWhole(values, 'check-every'));
console.log(`seed ${seed}`);
const started = performance.now();
const { next, acknowledged, failures } = await soak({
  seed,
  from,
  kills,
  checkEvery,
  signal: interrupt.signal,
  print: (line) => console.log(line),
});
const seconds = (performance.now() - started) / 1000;
console.log(
  `kills = ${next - from}, acknowledged = ${acknowledged}, lost = ${failures.length}, in ${seconds.toFixed(0)} s`,
);
console.log(`to go on: --seed ${seed} --from ${next}`);
for (const failure of failures) console.log(`FAIL ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
