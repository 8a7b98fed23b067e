import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { recordLeaf } from '../../protocol/chain/record.ts';
import { sourceKey } from '../records/sources/sources.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { bodyTable } from '../records/record-tables.ts';
import { seqAt, sourceIndex } from '../records/sources/source-index.ts';
import type { Check } from './check.ts';
import type { DerivedRecord } from './derived-walk.ts';
import type { CheckedRecord } from './group-check.ts';
import type { RecordFacts } from './record-facts.ts';
import { textsAt } from './record-at.ts';
import { type IndexState, SourceIndexWalk } from './source-index-walk.ts';

export const SOURCE_TABLES = [sourceIndex];

/** Sources whose last record is kept in memory. Past it, the one seen longest ago makes room. */
const MAX_SOURCES = 50_000;

interface PlaceInSource {
  readonly sourceSeq: number;
  readonly leaf: Sha256Hash | null;
}

interface LastOfSource extends PlaceInSource {
  /** Key part of the source; derived once a source, not once a record. */
  readonly source: string;
  /** What its rows have come to, of the own chain. */
  readonly index: IndexState;
}

const BEFORE_FIRST = { sourceSeq: 0, leaf: null, index: 'due' } as const;

/**
 * The gapless counter and hash link of every source, along one chain. Of the node's own chain all of it is proven,
 * through its index; of a peer's, the sources that memory holds, and a break there is the origin's doing: a warning.
 */
export class SourceWalk {
  readonly #check: Check;
  readonly #node: NodeId;
  readonly #isOwn: boolean;
  readonly #maxSources: number;
  readonly #last = new Map<string, LastOfSource>();
  #evicted = false;
  readonly #index: SourceIndexWalk;

  constructor(check: Check, node: NodeId, maxSources = MAX_SOURCES) {
    this.#check = check;
    this.#node = node;
    this.#maxSources = maxSources;
    this.#isOwn = node === check.own;
    this.#index = new SourceIndexWalk(check, node);
  }

  async take(records: readonly DerivedRecord[]): Promise<void> {
    for (const { record, leaf } of records) {
      const { source: name, sourceId } = record.shared;
      const known = this.#last.get(name);
      const source = known?.source ?? sourceKey(sourceId);
      const last = known ?? (await this.#recall(record, source));
      if (last !== undefined && !follows(record, last)) this.#broken(record);
      const state = last?.index ?? 'lost';
      const index = this.#isOwn ? await this.#index.take({ record, leaf, source }, state) : 'due';
      this.#remember(name, { source, sourceSeq: record.sourceSeq, leaf: writeSha256(leaf), index });
      if (this.#isOwn && record.sourceSeq === 1) this.#check.report.count('sources');
    }
  }

  /** After the last record of the own chain. */
  finish(): Promise<void> {
    return this.#index.finish();
  }

  /** The record before, where memory does not have it. Undefined where that cannot be told. */
  async #recall(record: RecordFacts, source: string): Promise<LastOfSource | undefined> {
    if (record.sourceSeq === 1 || !this.#evicted) return { source, ...BEFORE_FIRST };
    if (!this.#isOwn) return undefined;
    const sourceSeq = record.sourceSeq - 1;
    const row = await this.#index.rowAt(record.shared.account, source, sourceSeq);
    const seq = row && seqAt(row.row, sourceSeq - row.first);
    const texts = seq === undefined ? undefined : await textsAt(this.#check.store, this.#node, seq);
    const leaf = texts === undefined ? null : writeSha256(recordLeaf(nativeSuite, texts.head));
    const index = row === undefined || row.end <= sourceSeq ? 'lost' : row.end > record.sourceSeq ? row : 'due';
    return { source, sourceSeq, leaf, index };
  }

  #remember(name: string, last: LastOfSource): void {
    this.#last.delete(name);
    this.#last.set(name, last);
    if (this.#last.size <= this.#maxSources) return;
    const [oldest] = this.#last.keys();
    if (oldest !== undefined) this.#last.delete(oldest);
    this.#evicted = true;
  }

  #broken({ seq, sourceSeq, row }: CheckedRecord): void {
    const key = bodyTable.key(this.#node, row);
    const detail = `record ${seq} does not follow the one before of its source (sourceSeq ${sourceSeq})`;
    const severity = this.#isOwn ? 'problem' : 'warning';
    this.#check.report.find({ severity, table: bodyTable.name, key, detail });
  }
}

function follows(record: RecordFacts, last: PlaceInSource): boolean {
  return record.sourceSeq === last.sourceSeq + 1 && record.sourcePrev === last.leaf;
}
