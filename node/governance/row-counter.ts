import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { RecordCounter } from '../records/record-counters.ts';
import type { Operation } from '../store/operation.ts';
import { RowCache } from '../store/row-cache.ts';
import type { Store } from '../store/store.ts';
import type { KeyPart, Table } from '../store/table.ts';

/** A row of the count, and by how much a record moves it. */
export interface Move {
  readonly parts: readonly KeyPart[];
  readonly by: number;
}

/** Counts kept in memory. The others are read again when a record moves them. */
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
  readonly #durable = new RowCache<number>(MAX_CACHED);
  /** What will be, once the write under way is. */
  #moved = new Map<string, Count>();

  constructor(store: Store, table: Table<number>, movesOf: (record: AttestationRecord) => readonly Move[]) {
    this.#store = store;
    this.#table = table;
    this.#movesOf = movesOf;
  }

  async load(records: readonly AttestationRecord[]): Promise<void> {
    const keys = new Set(records.flatMap(this.#movesOf).map(({ parts }) => this.#table.key(...parts)));
    await this.#durable.load(keys, async (missing) => {
      const rows = await this.#store.getMany(missing);
      return missing.map((key, i) => [key, rows[i] === undefined ? 0 : this.#table.decode(rows[i])] as const);
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
