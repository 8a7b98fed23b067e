import { setTimeout as sleep } from 'node:timers/promises';
import { USDC } from '../../protocol/payments/usdc.ts';
import { type Anvil, startAnvil } from './anvil.ts';
import { BlockFollower, DEFAULT_JOURNAL_BLOCKS } from './block-follower.ts';
import { headOf } from './block-reader.ts';
import { ChainArchive } from './chain-archive.ts';
import { type ChainClient, chainClient } from './chain-client.ts';
import type { ChainWallets } from './chain-wallets.ts';
import { dumpState } from './dump-state.ts';
import { LeftBehind } from './left-behind.ts';
import { type BlockSeconds, resumeMining } from './mining.ts';
import { replay } from './replay.ts';
import { makeGenesis } from './usdc-genesis.ts';

/** A chain that dies refuses its follower before its end is known: so long the end may take. In milliseconds. */
const END_KNOWN_MS = 1_000;

export interface LocalChainOptions {
  readonly port: number;
  /** Takes what the chain is brought back from; null for one that is forgotten when it ends. */
  readonly directory: string | null;
  readonly wallets: ChainWallets;
  /** Seconds between two blocks; null mines each transaction at once. */
  readonly blockSeconds?: BlockSeconds;
  /** Blocks in the journal from which a new snapshot is made. */
  readonly journalBlocks?: number;
}

/** A running local chain and where it can be reached. */
export interface LocalChain extends AsyncDisposable {
  readonly rpcUrl: string;
  readonly usdc: typeof USDC.asset;
  readonly client: ChainClient;
  /** Process id of anvil. */
  readonly pid: number;
  /** Rejects once the chain has died or can no longer be archived. */
  readonly failed: Promise<never>;
}

/**
 * Starts a development stand-in for Base on loopback: anvil, with Circle's own USDC where Base has it. Where there is a
 * folder, all that was mined before is there again, and money is given out at the first start alone.
 *
 * @throws Error if the archive has been damaged or the port is taken; then nothing is left running
 */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { port, directory, wallets } = options;
  await using starting = new AsyncDisposableStack();
  const archived = directory === null ? null : await ChainArchive.open(directory);
  if (archived !== null) starting.use(archived.archive);
  const stateFile = archived?.archive.snapshotFile ?? null;
  const anvil = starting.use(await startAnvil({ port, stateFile, paused: stateFile !== null }));
  const client = chainClient(anvil.rpcUrl);
  const blockSeconds = options.blockSeconds ?? null;
  if (blockSeconds === null) starting.use(new LeftBehind(client));
  if (stateFile === null) await makeGenesis(client, wallets);
  else await replay(client, archived?.blocks ?? []);
  const failures = [quiet(died(anvil))];
  if (archived !== null) {
    const { archive } = archived;
    // Nobody knows the chain yet, so it stands still.
    const from = await headOf(client);
    if (archive.length > 0 || stateFile === null) await archive.keepSnapshot(await dumpState(client, blockSeconds));
    const journalBlocks = options.journalBlocks ?? DEFAULT_JOURNAL_BLOCKS;
    const follower = new BlockFollower({ client, rpcUrl: anvil.rpcUrl, archive, from, journalBlocks, blockSeconds });
    failures.push(quiet(starting.use(follower).failed.catch(laterThanDeath)));
  }
  await resumeMining(client, blockSeconds);
  const failed = quiet(Promise.race(failures));
  const running = starting.move();
  return {
    rpcUrl: anvil.rpcUrl,
    usdc: USDC.asset,
    client,
    pid: anvil.pid,
    failed,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Anyone who wants to know of it awaits it; nobody has to. */
function quiet(failure: Promise<never>): Promise<never> {
  failure.catch(() => {});
  return failure;
}

async function laterThanDeath(error: unknown): Promise<never> {
  await sleep(END_KNOWN_MS, undefined, { ref: false });
  throw error;
}

async function died(anvil: Anvil): Promise<never> {
  await anvil.ended;
  throw new Error('the chain has died');
}
