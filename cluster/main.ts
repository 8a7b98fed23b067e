import { endWithUsageError, requireCommandLine, UsageError } from '../node/config/command-line.ts';
import { readClusterEnvironment } from './environment.ts';
import { DEFAULT_PORT_BASE, planCluster } from './plan.ts';
import { StartError } from './supervisor/start-error.ts';
import { Supervisor } from './supervisor/supervisor.ts';
import { clusterTable } from './supervisor/table.ts';
import { toldToStop } from './told-to-stop.ts';

const { home, production, inherited } = readClusterEnvironment();

const USAGE = `npm start [-- --fresh] [--port-base N]

Starts the local federation, or resumes it; --fresh forgets it.`;
const NAME = 'meridian';
const { values: flags } = requireCommandLine(
  USAGE,
  { fresh: { type: 'boolean', default: false }, 'port-base': { type: 'string', default: String(DEFAULT_PORT_BASE) } },
  { name: NAME },
);
const portBase = Number(flags['port-base']);
if (!Number.isInteger(portBase) || portBase < 1024 || portBase > 65_000) {
  endWithUsageError(new UsageError('--port-base is a port number'), NAME);
}

if (production) {
  console.error(`${NAME}: the local cluster is for development; NODE_ENV=production refuses it`);
  process.exit(1);
}
process.exit(await run());

/** Runs the cluster until it is told to stop. Returns the exit code. */
async function run(): Promise<number> {
  const stop = toldToStop();
  const plan = planCluster(portBase);
  const say = (line: string): void => console.log(line);
  await using supervisor = new Supervisor({ home, plan, fresh: flags.fresh, inherited, say });
  const started = supervisor.start().then(() => {
    say(clusterTable(supervisor.file, home));
    say('meridian: ready');
  });
  try {
    await Promise.race([stop, started.then(() => stop)]);
    return 0;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(`${NAME}: ${error.message}`);
    return 1;
  }
}
