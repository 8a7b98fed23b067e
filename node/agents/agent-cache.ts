import type { Agent } from '../../protocol/agents/agent.ts';

/** Keys of all agents kept in memory together; each takes about three kilobytes. */
export const MAX_CACHED_KEYS = 4_096;

/** Agents kept in memory. Those cached longest ago make room. */
export class AgentCache {
  readonly #agents = new Map<string, Agent>();
  #keys = 0;

  get(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  set(agent: Agent): void {
    this.delete(agent.agentId);
    this.#agents.set(agent.agentId, agent);
    this.#keys += agent.keys.length;
    for (const agentId of this.#agents.keys()) {
      if (this.#keys <= MAX_CACHED_KEYS) return;
      this.delete(agentId);
    }
  }

  delete(agentId: string): void {
    const held = this.#agents.get(agentId);
    if (held === undefined) return;
    this.#agents.delete(agentId);
    this.#keys -= held.keys.length;
  }
}
