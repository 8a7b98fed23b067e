// `npm run hostile -- --requests N --seed S`: a longer attack than that of `npm test`, on a node of its own.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { attack } from './attack.ts';
import { startFuzzTarget } from './fuzz-target.ts';
import { print, verdict } from './verdict.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(randomInt(1e9)) },
  },
});
const requests = Number(values.requests);
const seed = Number(values.seed);
console.log(`${requests} requests, seed ${seed}`);
await using victim = await startFuzzTarget();
const report = await attack(victim.node, { requests, seed, keys: victim.keys });
print(report);
const failures = verdict(report, victim.node);
for (const failure of failures) console.log(`FAIL ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
