import { type Agent, currentKey } from '../../protocol/agents/agent.ts';
import { isRecordId } from '../../protocol/ids.ts';
import { agentKeyParts, agentKeyTable, agentTable, readAgent } from '../governance/agents/agent-tables.ts';
import { openSigner } from '../governance/agents/service-keys.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows, reasonOf } from './rows.ts';

/**
 * The private keys that the node holds for agents: each opens, and is the one in force of an active agent. The agents
 * themselves follow from records, which the walk over the chains has proven. A key that is not here was lost with a
 * store: its agent can sign again once the key is rotated.
 */
export const agentCheck: TableCheck = {
  tables: [agentKeyTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, agentKeyTable)) {
      check.report.count('agentKeys');
      if (value !== undefined) await checkKey(check, key, parts, value);
    }
    for await (const { value } of readRows(check, agentTable)) {
      const agent = value === undefined ? undefined : await agentOf(check, value);
      if (agent !== undefined) await findAbsent(check, agent);
    }
  },
};

async function checkKey(check: Check, key: string, parts: readonly string[], sealed: Uint8Array): Promise<void> {
  const { report, agentKeys } = check;
  const [part = ''] = parts;
  const agent = await agentAt(check, part);
  const expected = agent && keyHeldFor(agent);
  if (expected === undefined || expected.row !== key) {
    report.problem(agentKeyTable.name, key, 'is no key in force of an agent of this node');
    return;
  }
  if (agentKeys === null) return;
  try {
    openSigner(agentKeys, key, expected.keyId, sealed);
  } catch (error) {
    report.problem(agentKeyTable.name, key, reasonOf(error));
  }
}

async function findAbsent({ store, report }: Check, agent: Agent): Promise<void> {
  const expected = keyHeldFor(agent);
  if (expected === undefined || (await store.get(expected.row)) !== undefined) return;
  report.count('agentKeysAbsent');
  const detail = 'is not here: its agent signs again once the key is rotated';
  report.find({ severity: 'warning', table: agentKeyTable.name, key: expected.row, detail });
}

/** The row that keeps the key in force, where the node is the one to keep it. */
function keyHeldFor(agent: Agent) {
  const current = currentKey(agent);
  if (agent.custody !== 'service' || current === undefined) return undefined;
  return { row: agentKeyTable.key(...agentKeyParts(agent.agentId, current.keyId)), keyId: current.keyId };
}

async function agentAt(check: Check, part: string): Promise<Agent | undefined> {
  try {
    const registration = await agentTable.get(check.store, part);
    return registration === undefined ? undefined : await agentOf(check, registration);
  } catch {
    return undefined;
  }
}

/** Undefined where its records do not read, which the walk over the chains reports. */
async function agentOf({ store }: Check, registration: string): Promise<Agent | undefined> {
  try {
    return isRecordId(registration) ? await readAgent(store, registration) : undefined;
  } catch {
    return undefined;
  }
}
