import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import type { RecordCounter } from '../../records/record-counters.ts';
import { readOwnRecord } from '../../records/record-reader.ts';
import type { Operation } from '../../store/operation.ts';
import { RowCache } from '../../store/row-cache.ts';
import type { Store } from '../../store/store.ts';
import {
  addMention,
  agentRecordTable,
  type AgentTallyRow,
  agentTallyTable,
  type Mention,
  mentionsOf,
  subjectsOf,
} from './agent-tally-table.ts';

/** Agents whose counts are kept in memory. The others are read again when a record moves them. */
const MAX_CACHED_AGENTS = 10_000;

/** Counts this node's own records by the agent that they are of, so that nobody has to look for them. */
export class AgentTally implements RecordCounter {
  readonly #store: Store;
  readonly #node: NodeId;
  /** What is on the disk; undefined where there is no row. */
  readonly #durable = new RowCache<AgentTallyRow | undefined>(MAX_CACHED_AGENTS);
  /** What will be, once the write under way is. */
  #moved = new Map<string, AgentTallyRow>();
  /** What the records of the write under way count for. Nothing is kept of a record that names no agent. */
  #mentions: ReadonlyMap<RecordId, readonly Mention[]> = new Map();

  constructor(store: Store, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  async load(records: readonly AttestationRecord[]): Promise<void> {
    const subjects = await this.#subjectsOf(records);
    this.#mentions = mentionsByRecord(records, (id) => subjects.get(id));
    const agents = new Set<string>();
    for (const mentions of this.#mentions.values()) for (const [agent] of mentions) agents.add(agent);
    await this.#durable.load(agents, async (missing) => {
      const rows = await this.#store.getMany(missing.map((agent) => agentTallyTable.key(agent)));
      return missing.map((agent, i) => [agent, rows[i] && agentTallyTable.decode(rows[i])] as const);
    });
  }

  operations(records: readonly AttestationRecord[]): [Operation[]] {
    this.#moved = new Map();
    const places: Operation[] = [];
    for (const record of records) {
      for (const [agent, mention] of this.#mentions.get(record.id) ?? []) {
        const after = addMention(this.#moved.get(agent) ?? this.#durable.get(agent), record, mention);
        this.#moved.set(agent, after);
        if (mention === 'own') places.push(agentRecordTable.put([agent, record.seq], after.count));
      }
    }
    return [[...places, ...[...this.#moved].map(([agent, row]) => agentTallyTable.put([agent], row))]];
  }

  committed(): void {
    for (const [agent, row] of this.#moved) this.#durable.set(agent, row);
    this.#moved = new Map();
  }

  forget(): void {
    this.#durable.clear();
    this.#moved = new Map();
  }

  /** Of one write, a record may be about another: where records are taken back, many come together. */
  async #subjectsOf(records: readonly AttestationRecord[]): Promise<ReadonlyMap<RecordId, AttestationRecord>> {
    const ids = new Set(records.flatMap(subjectsOf));
    const subjects = new Map<RecordId, AttestationRecord>();
    if (ids.size === 0) return subjects;
    for (const record of records) if (ids.has(record.id)) subjects.set(record.id, record);
    for (const id of ids) {
      if (subjects.has(id)) continue;
      const found = await readOwnRecord(this.#store, this.#node, id);
      if (found !== undefined) subjects.set(id, found);
    }
    return subjects;
  }
}

function mentionsByRecord(
  records: readonly AttestationRecord[],
  subjectOf: (id: RecordId) => AttestationRecord | undefined,
): Map<RecordId, readonly Mention[]> {
  const all = new Map<RecordId, readonly Mention[]>();
  for (const record of records) {
    const mentions = mentionsOf(record, subjectOf);
    if (mentions.length > 0) all.set(record.id, mentions);
  }
  return all;
}
