import type { Sha256Hash } from '../hash.ts';
import type { RecordId } from '../ids.ts';
import { ChainRefusal } from './refusal.ts';
import type { AttestationRecord } from './record.ts';

/** An account's source at one node: the records of each form a chain of their own. */
export interface SourceName {
  readonly account: string;
  readonly sourceId: string;
}

/** The last record of a source: its counter, and its leaf hash, which the next one names. */
export interface SourceHead {
  readonly sourceSeq: number;
  readonly leaf: Sha256Hash;
}

/** A source whose last record is another after a batch. */
export interface MovedSource extends SourceName {
  readonly head: SourceHead;
}

/**
 * What a deriver asks about the node's chain as it was before the batch. Answers come in the order of the questions.
 */
export interface ChainHistory {
  /** Heads of sources; undefined where a source has no record before the batch. */
  sourceHeads(names: readonly SourceName[]): Promise<readonly (SourceHead | undefined)[]>;
  /** `seq` of the first record that each id names; undefined, or one in the batch, where none before it has it. */
  placesOf(ids: readonly RecordId[]): Promise<readonly (number | undefined)[]>;
}

/** What links a record to those before it. */
export type SourcedRecord = Pick<AttestationRecord, 'account' | 'id' | 'seq' | 'sourceId' | 'sourcePrev' | 'sourceSeq'>;

/** Sources and ids along one batch, on top of those before it. Holds the sources that the batch touches. */
export class SourceWalk {
  readonly #history: ChainHistory;
  /** First record of the batch. */
  readonly #first: number;
  readonly #known = new Map<string, SourceHead | undefined>();
  readonly #moved = new Map<string, MovedSource>();
  readonly #ids = new Set<RecordId>();

  constructor(history: ChainHistory, first: number) {
    this.#history = history;
    this.#first = first;
  }

  /** Takes the next records with their leaf hashes. Throws `ChainRefusal`. */
  async take(records: readonly { readonly record: SourcedRecord; readonly leaf: Sha256Hash }[]): Promise<void> {
    await this.#load(records.map(({ record }) => record));
    const places = await this.#history.placesOf(records.map(({ record }) => record.id));
    records.forEach(({ record, leaf }, i) => {
      const place = places[i];
      this.#takeId(record, place !== undefined && place < this.#first);
      this.#move(record, leaf);
    });
  }

  /** The sources that the batch has moved. */
  get moved(): readonly MovedSource[] {
    return [...this.#moved.values()];
  }

  async #load(records: readonly SourcedRecord[]): Promise<void> {
    const unknown = new Map<string, SourceName>();
    for (const { account, sourceId } of records) {
      const key = keyOf({ account, sourceId });
      if (!this.#known.has(key)) unknown.set(key, { account, sourceId });
    }
    if (unknown.size === 0) return;
    const heads = await this.#history.sourceHeads([...unknown.values()]);
    [...unknown.keys()].forEach((key, i) => this.#known.set(key, heads[i]));
  }

  /** An id names one record for ever: a later one under it would stand in the place of the first. */
  #takeId({ id, seq }: SourcedRecord, isHeld: boolean): void {
    if (isHeld || this.#ids.has(id)) throw new ChainRefusal('id-repeated', `${id} names an earlier record`, seq);
    this.#ids.add(id);
  }

  #move({ account, sourceId, sourceSeq, sourcePrev, seq }: SourcedRecord, leaf: Sha256Hash): void {
    const key = keyOf({ account, sourceId });
    const before = this.#known.get(key);
    const expected = (before?.sourceSeq ?? 0) + 1;
    if (sourceSeq !== expected) {
      throw new ChainRefusal('source-skipped', `sourceSeq ${sourceSeq} in place of ${expected}`, seq);
    }
    if (sourcePrev !== (before?.leaf ?? null)) {
      throw new ChainRefusal('source-prev-mismatch', 'names another record of its source before it', seq);
    }
    const head = { sourceSeq, leaf };
    this.#known.set(key, head);
    this.#moved.set(key, { account, sourceId, head });
  }
}

/** The length keeps two names from running into one text. */
function keyOf({ account, sourceId }: SourceName): string {
  return `${account.length} ${account}${sourceId}`;
}
