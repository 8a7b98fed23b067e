import type { NodeId } from '../../../protocol/ids.ts';
import { AgentKeyCipher } from './agent-key-cipher.ts';
import { AgentSigning } from './agent-signing.ts';
import { Agents } from './agents.ts';
import { ServiceKeys } from './service-keys.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { readPayload } from '../../records/payload/payload-tables.ts';
import type { PayloadCipher } from '../../records/payload/payload-cipher.ts';
import type { DuePurges } from '../../store/due-purges.ts';
import type { Store } from '../../store/store.ts';

/** The registry of agents, and what signs for them. */
export interface AgentServices {
  readonly agents: Agents;
  readonly agentSigning: AgentSigning;
}

interface AgentServicesOptions {
  readonly store: Store;
  readonly node: NodeId;
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  readonly cipher: PayloadCipher;
  readonly purges: DuePurges;
}

export function openAgentServices({ store, node, payloadKey, cipher, purges }: AgentServicesOptions): AgentServices {
  const keys = new ServiceKeys(store, new AgentKeyCipher(payloadKey), purges);
  const agents = new Agents({
    store,
    node,
    keys,
    locks: new KeyedLock(),
    payload: ({ id, seq }) => readPayload(store, cipher, id, seq),
  });
  return { agents, agentSigning: new AgentSigning(agents, keys) };
}
