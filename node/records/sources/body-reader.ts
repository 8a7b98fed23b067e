import type { NodeId } from '../../../protocol/ids.ts';
import type { WholeTexts } from '../../../protocol/chain/record.ts';
import { openedBodyTable } from '../opened-bodies.ts';
import type { Reads } from '../../store/store.ts';

interface Row {
  readonly first: number;
  readonly records: readonly WholeTexts[];
}

/** Texts of a node's records, for a reader who goes through neighbours: it keeps the row that it read last. */
export class BodyReader {
  readonly #store: Reads;
  readonly #node: NodeId;
  #row: Row | undefined;

  constructor(store: Reads, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  /** Undefined where there is no such record, or its row cannot be read. */
  async texts(seq: number): Promise<WholeTexts | undefined> {
    const held = this.#row;
    if (held !== undefined && seq >= held.first && seq < held.first + held.records.length) {
      return held.records[seq - held.first];
    }
    this.#row = await this.#read(seq);
    return this.#row?.records[seq - this.#row.first];
  }

  async #read(seq: number): Promise<Row | undefined> {
    try {
      const row = await openedBodyTable.last(this.#store, [this.#node], seq);
      return row && { first: Number(row[0]), records: row[1] };
    } catch {
      return undefined;
    }
  }
}
