import type { NodeId } from '../../protocol/ids.ts';
import { bodyTable, splitBody } from '../records/record-tables.ts';
import type { Store } from '../store/store.ts';

interface Row {
  readonly first: number;
  readonly lines: readonly string[];
}

/** Texts of a node's records, for a reader who goes through neighbours: it keeps the row that it read last. */
export class BodyReader {
  readonly #store: Store;
  readonly #node: NodeId;
  #row: Row | undefined;

  constructor(store: Store, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  /** Undefined where there is no such record, or its row cannot be read. */
  async text(seq: number): Promise<string | undefined> {
    const held = this.#row;
    if (held !== undefined && seq >= held.first && seq < held.first + held.lines.length) {
      return held.lines[seq - held.first];
    }
    this.#row = await this.#read(seq);
    return this.#row?.lines[seq - this.#row.first];
  }

  async #read(seq: number): Promise<Row | undefined> {
    try {
      const row = await bodyTable.last(this.#store, [this.#node], seq);
      return row && { first: Number(row[0]), lines: splitBody(row[1]) };
    } catch {
      return undefined;
    }
  }
}
