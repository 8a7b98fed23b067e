import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { DuePurges } from '../../store/due-purges.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads } from '../../store/store.ts';
import { agentKeyTable, agentPart } from './agent-tables.ts';

/**
 * What own rotations and deactivations of agents end that are taken back from peers: a store that was restored from a
 * copy may hold private keys that were replaced since. A key is written with the record that puts it into force, so a
 * store that lacks the record of a key's end holds no later key of the agent: whatever it holds has ended.
 */
export async function keysEndedAgain(
  store: Reads,
  purges: Pick<DuePurges, 'end'>,
  records: readonly AttestationRecord[],
): Promise<readonly Operation[]> {
  const ended: string[] = [];
  for (const agent of changedAgents(records)) {
    for await (const [[key = '']] of agentKeyTable.under(store, [agent])) ended.push(agentKeyTable.key(agent, key));
  }
  return purges.end(ended);
}

/** Key parts of agents whose key in force the records end. */
function changedAgents(records: readonly AttestationRecord[]): ReadonlySet<string> {
  const changes = records.filter(({ kind }) => kind === 'key_event');
  return new Set(changes.flatMap(({ claims: { agentId } }) => (agentId === undefined ? [] : [agentPart(agentId)])));
}
