import { ERASURE_SOURCE } from '../../../protocol/api/erasures.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import { readTextRows, tryOpenRecord } from '../../records/record-reader.ts';
import { BodyReader } from '../../records/sources/body-reader.ts';
import { firstAt } from '../../records/sources/record-page.ts';
import { countOf, sourceIndex } from '../../records/sources/source-index.ts';
import { SourceRecords } from '../../records/sources/source-records.ts';
import { sourceKey } from '../../records/sources/sources.ts';
import type { Reads } from '../../store/store.ts';

/** Records of one node that a pack holds, by its own count, ascending. */
export interface AskedRecords {
  readonly node: NodeId;
  readonly seqs: Float64Array;
}

/** By which record a payload was erased, and when. */
export interface Erasure {
  readonly id: RecordId;
  readonly at: Timestamp;
}

/** What a node has for a question. */
export interface AskedOfNode extends AskedRecords {
  /** Erasures of payloads of the account, by the erased record. */
  readonly erasures: ReadonlyMap<RecordId, Erasure>;
}

/** How far the answer reaches at a node. */
interface Reach {
  readonly node: NodeId;
  readonly seq: number;
}

/** Of this node's own records: each source's in the period and its neighbours at both edges, by the index of sources. */
export async function askedOfOwn(store: Reads, question: PackQuestion, { node, seq }: Reach): Promise<AskedOfNode> {
  const { account, from, to, sources, withholdsBefore } = question;
  const reads = { store, node, bodies: new BodyReader(store, node) };
  const seqs: number[] = [];
  for (const source of sources) {
    const records = new SourceRecords(reads, account, sourceKey(source));
    const { last } = await records.end(source);
    const first = await firstAt(records, last, Date.parse(from));
    const after = await firstAt(records, last, Date.parse(to));
    const begin = withholdsBefore === true ? first.place : Math.max(1, first.place - 1);
    for await (const own of seqsBetween(store, [account, sourceKey(source)], begin, Math.min(after.place, last))) {
      if (own <= seq) seqs.push(own);
    }
  }
  return { node, seqs: ascending(seqs), erasures: await ownErasures(reads, account) };
}

/** Seqs of the places of a source, first and last included. */
async function* seqsBetween(
  store: Reads,
  source: readonly [account: string, source: string],
  first: number,
  last: number,
): AsyncGenerator<number> {
  const begin = await sourceIndex.last(store, source, first);
  if (begin === undefined || last < first) return;
  for await (const [[at = ''], row] of sourceIndex.under(store, source, { from: Number(begin[0]) })) {
    const start = Number(at);
    if (start > last) return;
    let place = start;
    for (const run of row.runs) {
      for (let i = 0; i < run.count; i++, place++) if (place >= first && place <= last) yield run.first + i;
    }
    if (place !== start + countOf(row)) throw new RangeError('a row of the index of sources is of another length');
  }
}

async function ownErasures(
  reads: { readonly store: Reads; readonly node: NodeId; readonly bodies: BodyReader },
  account: string,
): Promise<ReadonlyMap<RecordId, Erasure>> {
  const found = new Map<RecordId, Erasure>();
  const records = new SourceRecords(reads, account, sourceKey(ERASURE_SOURCE));
  const { last } = await records.end(ERASURE_SOURCE);
  for (let place = 1; place <= last; place++) {
    const at = await records.at(place);
    if (at.state === 'whole') noteErasure(found, at.record);
  }
  return found;
}

/**
 * Of another node's records, which have no index of sources here: all of them are looked through for the name of the
 * account. Erasures count that came after `seq` too.
 */
export async function askedOfOther(store: Reads, question: PackQuestion, { node, seq }: Reach): Promise<AskedOfNode> {
  const { account, withholdsBefore } = question;
  const sources = new Map(question.sources.map((source) => [source, new SourceSpan(question)]));
  const erasures = new Map<RecordId, Erasure>();
  const name = JSON.stringify(account);
  for await (const row of readTextRows(store, node, 1, Number.MAX_SAFE_INTEGER - 1)) {
    for (const texts of row) {
      const record = texts.body.includes(name) ? tryOpenRecord(texts) : undefined;
      if (record?.account !== account) continue;
      if (record.seq <= seq) sources.get(record.sourceId)?.take(record);
      noteErasure(erasures, record);
    }
  }
  const seqs = [...sources.values()].flatMap((span) => span.seqs(withholdsBefore !== true));
  return { node, seqs: ascending(seqs), erasures };
}

/** Records of a source in a period, and its neighbours. */
class SourceSpan {
  readonly #question: Pick<PackQuestion, 'from' | 'to'>;
  readonly #within: number[] = [];
  #before: number | undefined;
  #after: number | undefined;

  constructor(question: Pick<PackQuestion, 'from' | 'to'>) {
    this.#question = question;
  }

  /** Takes the next record of the source. */
  take({ submittedAt, seq }: AttestationRecord): void {
    if (submittedAt < this.#question.from) this.#before = seq;
    else if (submittedAt < this.#question.to) this.#within.push(seq);
    else this.#after ??= seq;
  }

  seqs(withBefore: boolean): number[] {
    return [...(withBefore ? [this.#before] : []), ...this.#within, this.#after].filter((seq) => seq !== undefined);
  }
}

function noteErasure(erasures: Map<RecordId, Erasure>, { id, kind, links, submittedAt: at }: AttestationRecord): void {
  if (kind !== 'erasure') return;
  for (const erased of links.erased ?? []) if (!erasures.has(erased)) erasures.set(erased, { id, at });
}

function ascending(seqs: readonly number[]): Float64Array {
  return Float64Array.from(seqs).sort();
}
