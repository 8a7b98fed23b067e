import { ERASURE_SOURCE } from '../../protocol/api/erasures.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { chainSourceTable, sourcePart } from '../records/chain-tables.ts';
import { BodyReader } from '../records/sources/body-reader.ts';
import { SourceRecords } from '../records/sources/source-records.ts';
import { sourceKey } from '../records/sources/sources.ts';
import type { Reads } from '../store/store.ts';
import type { PackRow } from './pack-tables.ts';

interface PackErasuresOptions {
  readonly self: NodeId;
  readonly store: Reads;
}

/** What was erased of accounts since their packs were made. */
export class PackErasures {
  readonly #options: PackErasuresOptions;

  constructor(options: PackErasuresOptions) {
    this.#options = options;
  }

  /** Records of erasures of the account, and refusals of them, at each of the nodes of a pack. */
  async countOf({ question: { account }, reach }: PackRow): Promise<number> {
    const { self, store } = this.#options;
    const source = { account, sourceId: ERASURE_SOURCE };
    let count = 0;
    for (const { node } of reach) {
      if (node === self) count += (await this.#own(account).end(ERASURE_SOURCE)).last;
      else count += (await chainSourceTable.get(store, node, sourcePart(source)))?.sourceSeq ?? 0;
    }
    return count;
  }

  /**
   * Whether a pack may disclose contents that were erased since it was made. A pack discloses what its own node made,
   * and so does only an erasure by this node concern it; a refused one erases nothing.
   */
  async mayDisclose(row: PackRow): Promise<boolean> {
    if (!row.question.disclosure) return false;
    const since = (await this.countOf(row)) - row.erasures;
    // A store that was restored from a copy has fewer.
    if (since < 0) return true;
    const own = this.#own(row.question.account);
    const { last } = await own.end(ERASURE_SOURCE);
    for (let sourceSeq = last; sourceSeq > Math.max(0, last - since); sourceSeq--) {
      const found = await own.at(sourceSeq);
      if (found.state !== 'whole' || found.record.kind === 'erasure') return true;
    }
    return false;
  }

  #own(account: string): SourceRecords {
    const { self: node, store } = this.#options;
    return new SourceRecords({ store, node, bodies: new BodyReader(store, node) }, account, sourceKey(ERASURE_SOURCE));
  }
}
