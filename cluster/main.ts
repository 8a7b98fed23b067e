import { parseArgs } from 'node:util';
import { readClusterEnvironment } from './environment.ts';
import { DEFAULT_PORT_BASE, planCluster } from './plan.ts';
import { StartError } from './supervisor/start-error.ts';
import { Supervisor } from './supervisor/supervisor.ts';
import { clusterTable } from './supervisor/table.ts';
import { toldToStop } from './told-to-stop.ts';

const { home, production, inherited } = readClusterEnvironment();
if (production) throw new Error('the local cluster is for development; NODE_ENV=production refuses it');

const { flags, portBase } = readFlags();

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
    console.error(`meridian: ${error.message}`);
    return 1;
  }
}

/** A usage error is one line, and ends the process with 2. */
function readFlags() {
  const { values } = parsedArguments();
  if (values.help) {
    console.log(
      'npm start [-- --fresh] [--port-base N]\n\nStarts the local federation, or resumes it; --fresh forgets it.',
    );
    process.exit(0);
  }
  const base = Number(values['port-base']);
  if (!Number.isInteger(base) || base < 1024 || base > 65_000) return endWith('--port-base is a port number');
  return { flags: values, portBase: base };
}

function parsedArguments() {
  try {
    return parseArgs({
      options: {
        fresh: { type: 'boolean', default: false },
        'port-base': { type: 'string', default: String(DEFAULT_PORT_BASE) },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return endWith(String(error instanceof Error ? error.message : error).replace(/\. .*$/s, ''));
  }
}

function endWith(usageError: string): never {
  console.error(`meridian: ${usageError}; --help says more`);
  process.exit(2);
}
