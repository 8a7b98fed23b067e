// `npm run fuzz -- --requests N --seed S`: a longer attack than that of `npm test`, on a node of its own.
import { randomInt } from 'node:crypto';
import { requireCommandLine } from '../../node/config/command-line.ts';
import { requireWhole } from '../../scripts/command-line.ts';
import { attack } from './attack.ts';
import { startFuzzTarget } from './fuzz-target.ts';
import { print, verdict } from './verdict.ts';

const USAGE = `npm run fuzz -- [--requests 200000] [--seed S]\n\nAttacks a node of its own with generated bad requests, made from its own API document.`;
const { values } = requireCommandLine(USAGE, {
  requests: { type: 'string', default: '200000' },
  seed: { type: 'string', default: String(randomInt(1e9)) },
});
const requests = requireWhole(values, 'requests', 1);
const seed = requireWhole(values, 'seed');
console.log(`${requests} requests, seed ${seed}`);
await using victim = await startFuzzTarget();
const report = await attack(victim.node, { requests, seed, keys: victim.keys });
print(report);
const failures = verdict(report, victim.node);
for (const failure of failures) console.log(`FAIL ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
