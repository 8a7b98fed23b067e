import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDurably, replaceDurably } from '../../node/keys/durable-file.ts';
import type { Roster } from '../../protocol/log/roster.ts';
import type { Plan } from '../plan.ts';
import { CLUSTER_FILE } from './cluster-file.ts';
import { ROSTER_FILE } from './genesis.ts';
import { StartError } from './start-error.ts';

/** Stands in a home from before its first file is made until its first node starts. */
const MARK_FILE = 'first-start';
const MARK_MODE = 0o600;
const MARK_TEXT = 'No node has run in this home: the next start makes it anew.\n';
/** Everything of the cluster in its home but the nodes' homes; nothing else there is ever touched. */
const OWN_FILES = ['ledger', 'chain', 'mail', ROSTER_FILE, 'demo-keys.json', CLUSTER_FILE];
const STORE_FOLDER = 'store';

/**
 * Makes the home ready to be filled, or to be resumed. What a first start left that ended before its nodes started is
 * taken away, and all else with `fresh`. Crash order: the mark is on the disk before anything is made or taken away, so
 * that whatever ends a first start, or the forgetting, the next start begins again. A home without the mark keeps every
 * file.
 */
export async function openHome(home: string, plan: Plan, fresh: boolean): Promise<void> {
  const mark = join(home, MARK_FILE);
  const own = [...OWN_FILES, ...plan.nodes.map((node) => node.id)].map((name) => join(home, name));
  if (fresh || !own.some(existsSync)) await replaceDurably(mark, MARK_TEXT, MARK_MODE);
  if (!existsSync(mark)) return requireRoster(home, plan);
  for (const path of own) await rm(path, { recursive: true, force: true });
}

/**
 * From here on the home is resumed, never made again by itself. Called once the roster is on the disk, before a node
 * starts.
 */
export async function keepHome(home: string): Promise<void> {
  await removeDurably(join(home, MARK_FILE));
}

/** Nodes find each other by the addresses of the roster. Throws `StartError` where it names others than the plan. */
export function requirePlanned(home: string, plan: Plan, { members }: Roster): void {
  const planned = plan.nodes.map(({ baseUrl }) => baseUrl);
  if (members.some(({ baseUrl }) => planned.includes(baseUrl))) return;
  const was = members.find(({ node }) => node === plan.nodes[0]?.id)?.baseUrl ?? 'elsewhere';
  const now = plan.nodes[0]?.baseUrl ?? 'elsewhere';
  throw new StartError(
    `${home} was made for other ports (${was}, not ${now}); start it with its --port-base, or with --fresh`,
  );
}

/** Stores belong to the federation that founded them: no other roster can be made for them. */
function requireRoster(home: string, plan: Plan): void {
  if (existsSync(join(home, ROSTER_FILE))) return;
  const stores = plan.nodes.map(({ id }) => join(home, id, STORE_FOLDER)).filter(existsSync);
  if (stores.length === 0) return;
  throw new StartError(`${home} has stores of nodes and no ${ROSTER_FILE}; put it back, or start with --fresh`);
}
