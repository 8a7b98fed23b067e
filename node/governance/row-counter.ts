import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { RecordCounter } from '../records/record-counters.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import type { KeyPart, Table } from '../store/table.ts';

/** A row of the count, and by how much a record moves it. */
export interface Move {
  readonly parts: readonly KeyPart[];
  readonly by: number;
}

/** Counts kept in memory. Past it they are read again when a record moves them. */
const MAX_CACHED = 20_000;

interface Count {
  readonly parts: readonly KeyPart[];
  readonly count: number;
}

/** Counts of a table, moved by what each own record says: what would otherwise take a walk over many records. */
export class RowCounter implements RecordCounter {
  readonly #store: Store;
  readonly #table: Table<number>;
  readonly #movesOf: (record: AttestationRecord) => readonly Move[];
  /** What is on the disk. */
  readonly #durable = new Map<string, number>();
  /** What will be, once the write under way is. */
  #moved = new Map<string, Count>();

  constructor(store: Store, table: Table<number>, movesOf: (record: AttestationRecord) => readonly Move[]) {
    this.#store = store;
    this.#table = table;
    this.#movesOf = movesOf;
  }

  async load(records: readonly AttestationRecord[]): Promise<void> {
    if (this.#durable.size > MAX_CACHED) this.#durable.clear();
    const keys = new Set(records.flatMap(this.#movesOf).map(({ parts }) => this.#table.key(...parts)));
    const unknown = [...keys].filter((key) => !this.#durable.has(key));
    if (unknown.length === 0) return;
    const rows = await this.#store.getMany(unknown);
    unknown.forEach((key, i) => {
      const row = rows[i];
      this.#durable.set(key, row === undefined ? 0 : this.#table.decode(row));
    });
  }

  operations(records: readonly AttestationRecord[]): [Operation[]] {
    this.#moved = new Map();
    for (const { parts, by } of records.flatMap(this.#movesOf)) {
      const key = this.#table.key(...parts);
      const before = this.#moved.get(key)?.count ?? this.#durable.get(key) ?? 0;
      this.#moved.set(key, { parts, count: before + by });
    }
    return [[...this.#moved.values()].map(({ parts, count }) => this.#table.put(parts, count))];
  }

  committed(): void {
    for (const [key, { count }] of this.#moved) this.#durable.set(key, count);
    this.#moved = new Map();
  }

  forget(): void {
    this.#durable.clear();
    this.#moved = new Map();
  }
}
