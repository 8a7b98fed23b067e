import { parseArgs } from 'node:util';
import { PAYMENT_CHAIN_ID } from '../../node/payments/facilitator/chain-id.ts';
import { CHAIN_DESCRIPTION } from './chain-client.ts';
import { readChainWallets } from './chain-wallets.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';
import { toldToStop } from '../told-to-stop.ts';

if (process.env['NODE_ENV'] === 'production') throw new Error(`${CHAIN_DESCRIPTION}: refused in production`);

const { values: flags } = parseArgs({
  options: {
    directory: { type: 'string' },
    port: { type: 'string', default: '4320' },
    // Without it, each transaction is mined at once.
    'block-seconds': { type: 'string' },
  },
});
if (!flags.directory) throw new Error('--directory DIR is needed');

const stop = toldToStop();

const starting = startLocalChain({
  directory: flags.directory,
  port: numberOf(flags.port, 65_535),
  wallets: await readChainWallets(flags.directory),
  blockSeconds: flags['block-seconds'] === undefined ? null : numberOf(flags['block-seconds'], 3_600),
});
const chain = await Promise.race([starting, stop]);
// Told to stop during the start. The archive is whole at every moment, and anvil goes with this process.
if (!chain) process.exit(0);
announce(chain);
try {
  await Promise.race([stop, chain.failed]);
} finally {
  await chain[Symbol.asyncDispose]();
  if (process.connected) process.disconnect();
}

/** Tells the parent, and the log, that the chain can be used and where. */
function announce({ rpcUrl, usdc }: LocalChain): void {
  const ready = {
    ready: true,
    description: CHAIN_DESCRIPTION,
    pid: process.pid,
    rpcUrl,
    chainId: PAYMENT_CHAIN_ID,
    usdc,
  };
  process.send?.(ready);
  console.log(JSON.stringify(ready));
}

function numberOf(text: string, most: number): number {
  const number = Number(text);
  if (!/^\d{1,5}$/.test(text) || number < 1 || number > most) throw new Error(`${text} is not from 1 to ${most}`);
  return number;
}
