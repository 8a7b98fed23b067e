// `npm run network-faults -- [--hold SECONDS] [--only PART-OF-NAME]`: five node processes as far apart as their
// regions, in every fault of the network, one after another. Prints how long healing took; exits non-zero where
// anything was lost, doubled or forked.
import { endWithUsageError, requireCommandLine, UsageError } from '../../node/config/command-line.ts';
import { fsck } from '../../node/fsck/fsck.ts';
import { ALL, spreadOverTheWorld, runWithFaults } from './scenarios.ts';
import { NODES, FaultFederation } from './fault-federation.ts';

/** Long enough that silent connections are given up. In seconds. */
const HOLD = '30';
/** After healing every node must hold everything within this, and the time that the bytes take. In seconds. */
const HEAL_SECONDS = 10;

const USAGE = `npm run network-faults -- [--hold 30] [--only PART-OF-NAME]\n\nFive node processes as far apart as their regions, under every fault of the network for so many seconds.`;
const { values } = requireCommandLine(USAGE, {
  hold: { type: 'string', default: HOLD },
  only: { type: 'string', default: '' },
});
const holdMs = Number(values.hold) * 1_000;
if (!(holdMs > 0)) endWithUsageError(new UsageError('--hold is a time in seconds'));

let failures = 0;
await using federation = await FaultFederation.start();
spreadOverTheWorld(federation);
for (const scenario of ALL.filter(({ name }) => name.includes(values.only))) {
  const { whole, damage } = await runWithFaults(federation, [scenario], holdMs);
  const anchored = await federation.anchored().catch((error: unknown) => String(error));
  const found = [...damage.found];
  if (whole > HEAL_SECONDS) found.push(`whole after ${whole.toFixed(1)} s only`);
  if (typeof anchored === 'string') found.push(anchored);
  failures += found.length;
  console.log(
    `${scenario.name}: whole ${whole.toFixed(1)} s after healing, ` +
      `anchored ${typeof anchored === 'number' ? `${anchored.toFixed(1)} s later` : 'in vain'}, ` +
      `lost = ${damage.lost}${found.map((line) => `\nFAIL ${line}`).join('')}`,
  );
}
for (const node of NODES) await federation.cluster.end(node);
for (const node of NODES) {
  await fsck(federation.cluster.nodeHome(node), {
    onFinding({ severity, table, key, detail }) {
      if (severity !== 'problem') return;
      failures++;
      console.log(`FAIL fsck of ${node}: ${table} ${key}: ${detail}`);
    },
  });
}
const records = [...federation.acknowledged.values()].flat().length;
console.log(`${records} records acknowledged, failures = ${failures}`);
process.exitCode = failures === 0 ? 0 : 1;
