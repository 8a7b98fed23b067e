import type { NodeId } from '../../../protocol/ids.ts';
import { outboxTable } from '../../anchoring/outbox.ts';
import { batchFirstTable, readBatch, readHead } from '../../records/batch-tables.ts';
import type { Store } from '../../store/store.ts';
import { agentRecordTable, agentTallyTable, type AgentTallyRow } from './agent-tally-table.ts';
import { agentPart } from './agent-tables.ts';

/** How many of an agent's records are how far on their way to the ledger. */
export interface AgentStatuses {
  /** Signed; under either of the names that a waiting record has. */
  readonly pending: number;
  readonly anchored: number;
  readonly confirmed: number;
}

export interface AgentBatches {
  /** Sealed batches that hold records of the agent, counted back from the newest. */
  readonly count: number;
  /** There are older ones, which were not counted. */
  readonly truncated: boolean;
}

/** What is on record of an agent id at one moment. */
export interface AgentHistoryReading {
  readonly tally: AgentTallyRow;
  readonly byStatus: AgentStatuses;
  readonly batches: AgentBatches;
}

/** Batches that one reading counts. */
const MAX_BATCHES = 256;
/** Unconfirmed batches that one reading looks at; what lies behind so many counts as waiting. */
const MAX_UNCONFIRMED = 512;

/** What this node has on record of agents. A reading costs the same however long the history is. */
export class AgentHistory {
  readonly #store: Store;
  readonly #node: NodeId;

  constructor(store: Store, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  /** Whether any record names the agent. */
  async knows(agentId: string): Promise<boolean> {
    return (await agentTallyTable.get(this.#store, agentPart(agentId))) !== undefined;
  }

  /** Undefined where no record names the agent. */
  async read(agentId: string): Promise<AgentHistoryReading | undefined> {
    const agent = agentPart(agentId);
    const tally = await agentTallyTable.get(this.#store, agent);
    if (tally === undefined) return undefined;
    const sealedEnd = await this.#sealedEnd();
    return {
      tally,
      byStatus: await this.#statuses(agent, tally.count, sealedEnd),
      batches: await this.#batches(agent, sealedEnd),
    };
  }

  /** Seq of the first record that is in no batch yet. */
  async #sealedEnd(): Promise<number> {
    const head = await readHead(this.#store, this.#node);
    return head === undefined ? 1 : head.envelope.first + head.envelope.size;
  }

  /** The batches on their way are looked at one by one: in all others, everything is confirmed. */
  async #statuses(agent: string, total: number, sealedEnd: number): Promise<AgentStatuses> {
    let anchored = 0;
    let waiting = 0;
    let rest = total - (await this.#countBelow(agent, sealedEnd, total));
    let looked = 0;
    for await (const [, { batch, status }] of outboxTable.under(this.#store, [])) {
      const stored = await readBatch(this.#store, this.#node, batch);
      // Sealed since the end was read: its records are among the rest.
      if (stored === undefined || stored.envelope.first >= sealedEnd) continue;
      const { first, size } = stored.envelope;
      const before = await this.#countBelow(agent, first, total);
      if (++looked > MAX_UNCONFIRMED) {
        rest = total - before;
        break;
      }
      const within = (await this.#countBelow(agent, first + size, total)) - before;
      if (status === 'submitted') anchored += within;
      else if (status !== 'confirmed') waiting += within;
    }
    const pending = waiting + rest;
    return { pending, anchored, confirmed: total - pending - anchored };
  }

  /** Records of the agent before a seq, among its first `total`: others were made since the count was read. */
  async #countBelow(agent: string, seq: number, total: number): Promise<number> {
    const last = await agentRecordTable.last(this.#store, [agent], seq - 1);
    return Math.min(last?.[1] ?? 0, total);
  }

  /** From the newest batch back, over one record of the agent in each. */
  async #batches(agent: string, sealedEnd: number): Promise<AgentBatches> {
    let count = 0;
    for (let before = sealedEnd; ;) {
      const record = await agentRecordTable.last(this.#store, [agent], before - 1);
      if (record === undefined) return { count, truncated: false };
      if (count === MAX_BATCHES) return { count, truncated: true };
      const batch = await batchFirstTable.last(this.#store, [this.#node], Number(record[0]));
      if (batch === undefined) return { count, truncated: false };
      count++;
      before = Number(batch[0]);
    }
  }
}
