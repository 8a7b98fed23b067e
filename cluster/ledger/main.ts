import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readAccountsFile } from './accounts-file.ts';
import { startLocalLedger } from './local-ledger.ts';
import type { LocalLedger } from './local-ledger.ts';
import { LEDGER_DESCRIPTION, LEDGER_NAME } from './network-name.ts';
import { entityText } from './wire.ts';
import { toldToStop } from '../told-to-stop.ts';

/** Ports that make Hedera's SDK behave in ways of their own. */
const SDK_SPECIAL_PORTS = [50_211, 50_212];

if (process.env['NODE_ENV'] === 'production') throw new Error(`${LEDGER_DESCRIPTION}: refused in production`);

const { values: flags } = parseArgs({
  options: {
    home: { type: 'string' },
    nodes: { type: 'string', default: '4301,4302,4303' },
    'mirror-grpc': { type: 'string', default: '4304' },
    mirror: { type: 'string', default: '4310' },
    accounts: { type: 'string' },
  },
});
if (!flags.home || !flags.accounts) throw new Error('--home DIR and --accounts FILE are needed');

const stop = toldToStop();

const starting = startLocalLedger({
  directory: join(flags.home, 'store'),
  accounts: await readAccountsFile(flags.accounts),
  nodePorts: flags.nodes.split(',').map(portOf),
  mirrorGrpcPort: portOf(flags['mirror-grpc']),
  mirrorPort: portOf(flags.mirror),
});
const local = await Promise.race([starting, stop]);
// Told to stop while the store was being checked. Nothing is lost: the store is whole at every moment.
if (!local) process.exit(0);
announce(local);
try {
  await Promise.race([stop, local.finished]);
} finally {
  await local[Symbol.asyncDispose]();
  if (process.connected) process.disconnect();
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Error(`${text} is not a port`);
  if (SDK_SPECIAL_PORTS.includes(port)) throw new Error(`port ${port} has a meaning of its own to Hedera's SDK`);
  return port;
}

/** Tells the parent, and the log, that the ledger can be used and where. */
function announce({ nodes, mirrorGrpc, mirrorUrl }: LocalLedger): void {
  const ready = {
    ready: true,
    network: LEDGER_NAME,
    description: LEDGER_DESCRIPTION,
    pid: process.pid,
    nodes: nodes.map(({ account, host, port }) => ({ account: entityText(account), address: `${host}:${port}` })),
    mirrorGrpc,
    mirrorUrl,
  };
  process.send?.(ready);
  console.log(JSON.stringify(ready));
  flushCompileCache();
}
