import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type AttestationRecord, recordLeaf } from '../../protocol/chain/record.ts';
import { sourceHeadTable, sourceKey, sourceRecordTable } from '../intake/sources.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { bodyTable } from '../records/record-tables.ts';
import type { Check } from './check.ts';
import type { DerivedRecord } from './derived-walk.ts';
import { type ExpectedRow, IndexWalk } from './index-walk.ts';
import { recordAt, textsAt } from './record-at.ts';
import { decodeRow, readRows } from './rows.ts';

export const SOURCE_TABLES = [sourceHeadTable, sourceRecordTable];

/** Sources whose last record is kept in memory. Past it, the one seen longest ago makes room. */
const MAX_SOURCES = 50_000;

interface PlaceInSource {
  readonly sourceSeq: number;
  readonly leaf: Sha256Hash | null;
}

interface LastOfSource extends PlaceInSource {
  /** Key part of the source; derived once a source, not once a record. */
  readonly source: string;
}

const BEFORE_FIRST: PlaceInSource = { sourceSeq: 0, leaf: null };

/**
 * The gapless counter and hash link of every source, along one chain. Of the node's own chain all of it is proven,
 * through its index; of a peer's, the sources that memory holds, and a break there is the origin's doing: a warning.
 */
export class SourceWalk {
  readonly #check: Check;
  readonly #node: NodeId;
  readonly #isOwn: boolean;
  readonly #last = new Map<string, LastOfSource>();
  #evicted = false;
  readonly #index: IndexWalk<number>;

  constructor(check: Check, node: NodeId) {
    this.#check = check;
    this.#node = node;
    this.#isOwn = node === check.own;
    this.#index = new IndexWalk(check, sourceRecordTable);
  }

  async take(records: readonly DerivedRecord[]): Promise<void> {
    const rows: ExpectedRow<number>[] = [];
    for (const { record, leaf, key } of records) {
      const name = `${record.account}/${record.sourceId}`;
      const known = this.#last.get(name);
      const source = known?.source ?? sourceKey(record.sourceId);
      const last = known ?? (await this.#recall(record, source));
      if (last !== undefined && !follows(record, last)) this.#broken(key, record);
      this.#remember(name, { source, sourceSeq: record.sourceSeq, leaf: writeSha256(leaf) });
      if (this.#isOwn && record.sourceSeq === 1) this.#check.report.count('sources');
      rows.push({ key: sourceRecordTable.key(record.account, source, record.sourceSeq), value: record.seq });
    }
    if (this.#isOwn) await this.#index.expect(rows);
  }

  /** After the last record of the own chain: heads stand at the end of their sources, and no row is left over. */
  async finish(): Promise<void> {
    let heads = 0;
    for await (const { key, parts, value } of readRows(this.#check, sourceHeadTable)) {
      heads++;
      if (value === undefined) continue;
      const [account = '', source = ''] = parts;
      if (key !== sourceHeadTable.key(account, sourceKey(value.sourceId))) {
        this.#check.report.problem(sourceHeadTable.name, key, 'stands under the key of another source');
      } else if ((await this.#leafOf(account, source, value.sourceSeq)) !== value.leaf) {
        this.#check.report.problem(sourceHeadTable.name, key, `is not record ${value.sourceSeq} of its source`);
      } else if ((await this.#seqOf(account, source, value.sourceSeq + 1)) !== undefined) {
        this.#check.report.problem(sourceHeadTable.name, key, 'is behind the last record of its source');
      }
    }
    if (heads !== this.#check.report.counts.sources) await this.#nameMissingHeads();
    await this.#index.finish(async ({ key, value }) => {
      const record = value === undefined ? undefined : await recordAt(this.#check.store, this.#node, value);
      return record !== undefined && key === indexKey(record);
    });
  }

  async #nameMissingHeads(): Promise<void> {
    for await (const { parts } of readRows(this.#check, sourceRecordTable)) {
      const [account = '', source = '', at = ''] = parts;
      if (Number(at) !== 1) continue;
      const key = sourceHeadTable.key(account, source);
      if ((await this.#check.store.get(key)) === undefined) {
        this.#check.report.problem(sourceHeadTable.name, key, 'is missing');
      }
    }
  }

  /** The record before, where memory does not have it. Undefined where that cannot be told. */
  async #recall(record: AttestationRecord, source: string): Promise<PlaceInSource | undefined> {
    if (record.sourceSeq === 1 || !this.#evicted) return BEFORE_FIRST;
    if (!this.#isOwn) return undefined;
    const sourceSeq = record.sourceSeq - 1;
    return { sourceSeq, leaf: (await this.#leafOf(record.account, source, sourceSeq)) ?? null };
  }

  #remember(name: string, last: LastOfSource): void {
    this.#last.delete(name);
    this.#last.set(name, last);
    if (this.#last.size <= MAX_SOURCES) return;
    const [oldest] = this.#last.keys();
    if (oldest !== undefined) this.#last.delete(oldest);
    this.#evicted = true;
  }

  #broken(key: string, { seq, sourceSeq }: AttestationRecord): void {
    const detail = `record ${seq} does not follow the one before of its source (sourceSeq ${sourceSeq})`;
    const severity = this.#isOwn ? 'problem' : 'warning';
    this.#check.report.find({ severity, table: bodyTable.name, key, detail });
  }

  async #leafOf(account: string, source: string, sourceSeq: number): Promise<Sha256Hash | undefined> {
    const seq = await this.#seqOf(account, source, sourceSeq);
    const texts = seq === undefined ? undefined : await textsAt(this.#check.store, this.#node, seq);
    return texts && writeSha256(recordLeaf(nativeSuite, texts.head));
  }

  async #seqOf(account: string, source: string, sourceSeq: number): Promise<number | undefined> {
    const key = sourceRecordTable.key(account, source, sourceSeq);
    const bytes = await this.#check.store.get(key);
    return bytes === undefined ? undefined : decodeRow(this.#check.report, sourceRecordTable, key, bytes);
  }
}

function follows(record: AttestationRecord, last: PlaceInSource): boolean {
  return record.sourceSeq === last.sourceSeq + 1 && record.sourcePrev === last.leaf;
}

function indexKey({ account, sourceId, sourceSeq }: AttestationRecord): string {
  return sourceRecordTable.key(account, sourceKey(sourceId), sourceSeq);
}
