// npm run key-compromise: rehearses what an operator must be able to do, on a local cluster of its own that is thrown
// away.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalCluster } from './bench/local-cluster.ts';
import { endWithUsageError, requireCommandLine, UsageError } from '../node/config/command-line.ts';
import { StepReport } from './key-compromise/step-report.ts';
import { rehearseKeyCompromise } from './key-compromise/revocation.ts';

const USAGE = `npm run key-compromise

A signing key is stolen, used to forge, revoked and replaced while its node runs under load.

Exit: 0 all held · 1 something did not, or the rehearsal broke off · 2 wrong usage`;
const MEMBERS = 5;

const { positionals } = requireCommandLine(USAGE, {}, { allowPositionals: true });
// `revocation` was the name of the only rehearsal, for one release.
if (positionals.some((word) => word !== 'revocation')) {
  endWithUsageError(new UsageError('key-compromise takes nothing'));
}
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
const report = new StepReport((line) => console.log(line));
const home = await mkdtemp(join(tmpdir(), 'meridian-key-compromise-'));
try {
  report.say('starting five nodes and a ledger of their own');
  await using cluster = await LocalCluster.start(home, MEMBERS);
  await rehearseKeyCompromise(cluster, report, interrupt.signal);
} catch (error) {
  report.check('the rehearsal came to its end', false, error instanceof Error ? error.message : String(error));
} finally {
  await rm(home, { recursive: true, force: true });
}
report.say(report.failed === 0 ? 'all held' : `${report.failed} did not hold`);
// The ledger SDK keeps a timer for some seconds; everything of ours is closed.
process.exit(report.failed === 0 ? 0 : 1);
