import type { NodeId } from '../protocol/ids.ts';
import { AgentKeyVault } from './agents/agent-key-vault.ts';
import { AgentSigning } from './agents/agent-signing.ts';
import { Agents } from './agents/agents.ts';
import { ServiceKeys } from './agents/service-keys.ts';
import { Lanes } from './lanes.ts';
import { readPayload } from './payload/payload-tables.ts';
import type { PayloadVault } from './payload/payload-vault.ts';
import type { DuePurges } from './store/due-purges.ts';
import type { Store } from './store/store.ts';

/** The registry of agents, and what signs for them. */
export interface AgentRooms {
  readonly agents: Agents;
  readonly agentSigning: AgentSigning;
}

interface AgentRoomsOptions {
  readonly store: Store;
  readonly node: NodeId;
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  readonly vault: PayloadVault;
  readonly purges: DuePurges;
}

export function openAgentRooms({ store, node, payloadKey, vault, purges }: AgentRoomsOptions): AgentRooms {
  const keys = new ServiceKeys(store, new AgentKeyVault(payloadKey), purges);
  const agents = new Agents({
    store,
    node,
    keys,
    lanes: new Lanes(),
    payload: ({ id, seq }) => readPayload(store, vault, id, seq),
  });
  return { agents, agentSigning: new AgentSigning(agents, keys) };
}
