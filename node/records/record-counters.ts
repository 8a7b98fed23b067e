import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';

/** Records that all counters look at side by side. With more, each rests before the next one. */
const SIDE_BY_SIDE_RECORDS = 256;

/** Makes one write of records, with these rows of their counters in it. */
export type CountedWrite = (rows: Iterable<readonly Operation[]>) => Promise<void>;

/**
 * The counters of a node's own records, moved by one write at a time: two writes side by side could leave the rows of
 * one under the mark of the other.
 */
export class RecordCounters {
  readonly #store: Store;
  readonly #counters: readonly RecordCounter[];
  readonly #mutex = new Semaphore({ places: 1 });

  constructor(store: Store, counters: readonly RecordCounter[]) {
    this.#store = store;
    this.#counters = counters;
  }

  /**
   * Counts records in their write. Rejects with what `write` throws, and where rows cannot be read: then nothing is
   * counted.
   */
  async write(records: readonly AttestationRecord[], write: CountedWrite): Promise<void> {
    using _held = await this.#mutex.enter();
    await this.#load(records);
    await write(this.#operations(records));
    for (const counter of this.#counters) counter.committed();
  }

  /** After it the rows count every record that is on the disk. Throws `StoreError`. */
  async flush(): Promise<void> {
    using _held = await this.#mutex.enter();
    await this.#flush();
  }

  /** Rows for a write of records that somebody else makes, and tells nothing of. Throws `StoreError`. */
  async rowsOf(records: readonly AttestationRecord[]): Promise<readonly Operation[]> {
    using _held = await this.#mutex.enter();
    await this.#flush();
    this.#forget();
    await this.#load(records);
    return [...this.#operations(records, true)].flat();
  }

  /** After somebody else wrote rows. Throws `StoreError`. */
  async reload(): Promise<void> {
    using _held = await this.#mutex.enter();
    await this.#flush();
    this.#forget();
  }

  async #flush(): Promise<void> {
    const rows = [...this.#operations([], true)].flat();
    if (rows.length === 0) return;
    await this.#store.write(rows);
    for (const counter of this.#counters) counter.committed();
  }

  #forget(): void {
    for (const counter of this.#counters) counter.forget();
  }

  async #load(records: readonly AttestationRecord[]): Promise<void> {
    if (records.length <= SIDE_BY_SIDE_RECORDS) {
      await Promise.all(this.#counters.map((counter) => counter.load(records)));
      return;
    }
    for (const counter of this.#counters) {
      await counter.load(records);
      await new TimeSlices().rest();
    }
  }

  *#operations(records: readonly AttestationRecord[], writesAll = false): Generator<readonly Operation[]> {
    for (const counter of this.#counters) yield* counter.operations(records, writesAll);
  }
}

/**
 * Counts over a node's own records. Rows land in the records' own write, or in a later one together with the mark that
 * says up to which record they count: a counter without such a mark writes its rows at once. Called for one write after
 * another: `load`, `operations`, then `committed` once the rows are on the disk; without it the next `operations` start
 * from where the last durable ones left off.
 */
export interface RecordCounter {
  /** Reads the rows that these records move, where memory has not got them. */
  load(records: readonly AttestationRecord[]): Promise<void>;
  /**
   * Rows, in parts: counting thousands of records takes long, and anyone who takes the parts may rest between two.
   * `writesAll`: rows that were put off are among them; also where there are no records.
   */
  operations(records: readonly AttestationRecord[], writesAll?: boolean): Iterable<readonly Operation[]>;
  committed(): void;
  /** Lets go of what memory holds: the rows may have been moved by another writer. Not while any row is put off. */
  forget(): void;
}
