import { equalBytes } from '../../protocol/bytes.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import {
  addMention,
  agentRecordTable,
  agentTallyTable,
  type AgentTallyRow,
  mentionsOf,
  ownAgentOf,
  subjectsOf,
} from '../governance/agents/agent-tally-table.ts';
import type { Check } from './check.ts';
import { type ExpectedRow, IndexWalk } from './index-walk.ts';
import { recordAt, recordOfId } from './record-at.ts';
import { readRows } from './rows.ts';

export const AGENT_TALLY_TABLES = [agentTallyTable, agentRecordTable];

/** Agents that are counted in memory. Of a node with more, the counts are not looked at. */
const MAX_AGENTS = 100_000;

/** The counts of records by agent, recounted along the own chain, and the places of each agent's records. */
export class AgentTallyWalk {
  readonly #check: Check;
  readonly #maxAgents: number;
  readonly #places: IndexWalk<number>;
  readonly #tallies = new Map<string, AgentTallyRow>();

  constructor(check: Check, maxAgents = MAX_AGENTS) {
    this.#check = check;
    this.#maxAgents = maxAgents;
    this.#places = new IndexWalk(check, agentRecordTable);
  }

  async take(records: readonly AttestationRecord[]): Promise<void> {
    if (this.#isTooMany) return;
    const subjects = await this.#subjectsOf(records);
    const places: ExpectedRow<number>[] = [];
    for (const record of records) {
      for (const [agent, mention] of mentionsOf(record, (id) => subjects.get(id))) {
        const after = addMention(this.#tallies.get(agent), record, mention);
        this.#tallies.set(agent, after);
        if (mention === 'own') places.push({ key: agentRecordTable.key(agent, record.seq), value: after.count });
      }
    }
    if (places.length > 0) await this.#places.expect(places);
  }

  /** After the last record. */
  async finish(): Promise<void> {
    const { store, report } = this.#check;
    if (this.#isTooMany) {
      report.notChecked.push('counts of agents: there are more than memory holds');
      return;
    }
    for (const [agent, tally] of this.#tallies) {
      report.count('agentTallies');
      const row = agentTallyTable.put([agent], tally);
      const stored = await store.get(row.key);
      if (stored === undefined) report.problem(agentTallyTable.name, row.key, 'is missing');
      else if (row.type === 'put' && !equalBytes(stored, row.value)) {
        report.problem(agentTallyTable.name, row.key, 'does not count the records of its agent');
      }
    }
    for await (const { key, parts } of readRows(this.#check, agentTallyTable)) {
      if (parts.length === 1 && this.#tallies.has(parts[0] ?? '')) continue;
      report.problem(agentTallyTable.name, key, 'belongs to no record');
    }
    await this.#places.finish(({ parts: [agent = '', seq = ''] }) => this.#isPlace(agent, Number(seq)));
  }

  get #isTooMany(): boolean {
    return this.#tallies.size > this.#maxAgents;
  }

  async #isPlace(agent: string, seq: number): Promise<boolean> {
    const { store, own } = this.#check;
    const record = own === null || !Number.isSafeInteger(seq) ? undefined : await recordAt(store, own, seq);
    return record !== undefined && ownAgentOf(record) === agent;
  }

  async #subjectsOf(records: readonly AttestationRecord[]): Promise<Map<RecordId, AttestationRecord>> {
    const subjects = new Map<RecordId, AttestationRecord>();
    for (const id of new Set(records.flatMap(subjectsOf))) {
      const found = await recordOfId(this.#check.store, id);
      if (found !== undefined && found.node === this.#check.own) subjects.set(id, found);
    }
    return subjects;
  }
}
