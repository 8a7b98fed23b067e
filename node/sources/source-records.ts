import type { AttestationRecord, WrittenRecord } from '../../protocol/chain/record.ts';
import { sourceHeadTable, type SourceHead, sourceKey, sourceRecordTable } from '../intake/sources.ts';
import { tryOpenRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import type { BodyReader } from './body-reader.ts';

/** Rows of the index that are read in one go. */
const ROWS_AT_ONCE = 64;

/** One place of a source as the store has it. `missing`: nothing leads to a record; `damaged`: what is there is not it. */
export type FoundRecord =
  | ({ readonly state: 'whole' } & WrittenRecord)
  | { readonly state: 'missing' | 'damaged' };

export interface SourceEnd {
  readonly head: SourceHead | undefined;
  /** `sourceSeq` of the last record, by its head and by its index, whichever goes further; 0 where there is none. */
  readonly last: number;
}

/** The records of one source of an account on this node, in the source's own order. Reads; never writes. */
export class SourceRecords {
  readonly account: string;
  /** Key part of the source. */
  readonly source: string;
  readonly #store: Store;
  readonly #bodies: BodyReader;
  /** Neighbouring rows of the index: `sourceSeq` → seq. */
  #index = new Map<number, number>();

  constructor(store: Store, bodies: BodyReader, account: string, source: string) {
    this.#store = store;
    this.#bodies = bodies;
    this.account = account;
    this.source = source;
  }

  /** The index first: a record that is made meanwhile moves both, and a head that is behind its index is damage. */
  async end(): Promise<SourceEnd> {
    const start = sourceRecordTable.key(this.account, this.source, 0);
    const end = sourceRecordTable.key(this.account, this.source, Number.MAX_SAFE_INTEGER);
    const row = await this.#store.first({ gte: start, lte: end, reverse: true });
    const head = await this.#head();
    return { head, last: Math.max(head?.sourceSeq ?? 0, row === undefined ? 0 : placeOf(row[0])) };
  }

  async at(sourceSeq: number): Promise<FoundRecord> {
    const seq = await this.#seq(sourceSeq);
    if (seq === undefined) return { state: 'missing' };
    const texts = await this.#bodies.texts(seq);
    if (texts === undefined) return { state: 'missing' };
    const record = tryOpenRecord(texts);
    return record !== undefined && this.#isIn(record, seq, sourceSeq)
      ? { state: 'whole', record, texts }
      : { state: 'damaged' };
  }

  /** Undefined where it cannot be read either. */
  async #head(): Promise<SourceHead | undefined> {
    try {
      return await sourceHeadTable.get(this.#store, this.account, this.source);
    } catch {
      return undefined;
    }
  }

  #isIn(record: AttestationRecord, seq: number, sourceSeq: number): boolean {
    return (
      record.seq === seq &&
      record.sourceSeq === sourceSeq &&
      record.account === this.account &&
      sourceKey(record.sourceId) === this.source
    );
  }

  async #seq(sourceSeq: number): Promise<number | undefined> {
    const held = this.#index.get(sourceSeq);
    if (held !== undefined) return held;
    const start = sourceRecordTable.key(this.account, this.source, sourceSeq);
    const end = sourceRecordTable.key(this.account, this.source, sourceSeq + ROWS_AT_ONCE - 1);
    this.#index = new Map();
    for await (const [key, bytes] of this.#store.range({ gte: start, lte: end })) {
      const seq = seqOf(bytes);
      if (seq !== undefined) this.#index.set(placeOf(key), seq);
    }
    return this.#index.get(sourceSeq);
  }
}

/** The last part of a key of the index. */
function placeOf(key: string): number {
  return Number(key.slice(key.lastIndexOf('/') + 1));
}

function seqOf(bytes: Uint8Array): number | undefined {
  try {
    return sourceRecordTable.decode(bytes);
  } catch {
    return undefined;
  }
}
