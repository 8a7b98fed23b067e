import { join } from 'node:path';
import { ensureKeys, ensureRoster } from '../../cluster/supervisor/genesis.ts';
import { nodeVariables } from '../../cluster/supervisor/node-variables.ts';
import type { Plan, PlannedNode } from '../../cluster/plan.ts';
import { configOf, type NodeConfig } from '../../node/config/config.ts';
import { freePlan } from './free-plan.ts';

/** Pays for nothing: these nodes find no ledger. */
const NO_OPERATOR_KEY = '11'.repeat(32);
const NO_TOPIC = '0.0.4242';
const NEVER_SECONDS = '3600';

/** Homes of five members with keys and a roster, for nodes that run in this process. */
export async function makeHomes(home: string): Promise<readonly NodeConfig[]> {
  return (await makeHomesOf(home)).map((variables) => configOf(variables));
}

/** The same homes, for nodes in processes of their own: the variables of each. */
export async function makeHomesOf(home: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const plan = await freePlan(5);
  await ensureKeys(home, plan);
  const rosterFile = await ensureRoster(home, plan, () => Promise.resolve(NO_TOPIC));
  return plan.nodes.map((node) => quietVariables(node, plan, home, rosterFile));
}

/** Configuration that opens a node's home here, for a node that logs nothing and seals only when told. */
export function quietConfig(node: PlannedNode, plan: Plan, home: string, rosterFile: string): NodeConfig {
  return configOf(quietVariables(node, plan, home, rosterFile));
}

function quietVariables(node: PlannedNode, plan: Plan, home: string, rosterFile: string): Record<string, string> {
  return {
    ...nodeVariables(node, plan, join(home, node.id), rosterFile, NO_OPERATOR_KEY),
    BATCH_INTERVAL: NEVER_SECONDS,
    LOG_LEVEL: 'silent',
  };
}
