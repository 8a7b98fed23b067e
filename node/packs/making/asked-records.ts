import { ERASURE_SOURCE } from '../../../protocol/api/erasures.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import { readTextRows, tryOpenRecord } from '../../records/record-reader.ts';
import { BodyReader } from '../../records/sources/body-reader.ts';
import type { Range } from '../../records/sources/continuity.ts';
import { countOf, sourceIndex } from '../../records/sources/source-index.ts';
import { SourceRecords } from '../../records/sources/source-records.ts';
import { sourceKey } from '../../records/sources/sources.ts';
import { lastUpTo } from '../../records/sources/stretches.ts';
import type { Reads } from '../../store/store.ts';
import { askedPlaces, extendRuns, type PlaceRun, runsOf } from './asked-places.ts';

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

/**
 * Of this node's own records: each source's from the first one in the period to the last, and its neighbours at both
 * edges, by the index of sources.
 */
export async function askedOfOwn(store: Reads, question: PackQuestion, { node, seq }: Reach): Promise<AskedOfNode> {
  const { account, sources, withholdsBefore } = question;
  const reads = { store, node, bodies: new BodyReader(store, node) };
  const seqs: number[] = [];
  for (const source of sources) {
    const records = new SourceRecords(reads, account, sourceKey(source));
    const { last: end } = await records.end(source);
    const last = await lastUpTo(records, end, seq);
    const runs = await runsOf(records, last, question);
    const { from, to } = askedPlaces(runs, withholdsBefore === true);
    for await (const own of seqsBetween(store, [account, sourceKey(source)], from, to)) seqs.push(own);
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
  for await (const record of recordsOf(store, account, node)) {
    if (record.seq <= seq) sources.get(record.sourceId)?.take(record);
    noteErasure(erasures, record);
  }
  const seqs: number[] = [];
  /** Sources with further records to hold: their times go back. */
  const apart = new Map<string, Range>();
  for (const [source, span] of sources) {
    const places = askedPlaces(span.runs, withholdsBefore === true);
    const found = span.seqs(places);
    if (found.length === places.to - places.from + 1) seqs.push(...found);
    else apart.set(source, places);
  }
  for await (const record of apart.size === 0 ? [] : recordsOf(store, account, node)) {
    const places = apart.get(record.sourceId);
    const isAsked = places !== undefined && record.sourceSeq >= places.from && record.sourceSeq <= places.to;
    if (isAsked && record.seq <= seq) seqs.push(record.seq);
  }
  return { node, seqs: ascending(seqs), erasures };
}

/** The records of an account among those of another node. */
async function* recordsOf(store: Reads, account: string, node: NodeId): AsyncGenerator<AttestationRecord> {
  const name = JSON.stringify(account);
  for await (const row of readTextRows(store, node, 1, Number.MAX_SAFE_INTEGER - 1)) {
    for (const texts of row) {
      const record = texts.body.includes(name) ? tryOpenRecord(texts) : undefined;
      if (record?.account === account) yield record;
    }
  }
}

/** How the records of a source lie to a question, and which of them a pack holds where they stand in order of time. */
class SourceSpan {
  readonly runs: PlaceRun[] = [];
  readonly #question: PackQuestion;
  /** Those of the period, the last of each run before it, and the first of each after it. */
  readonly #kept: Pick<AttestationRecord, 'seq' | 'sourceSeq'>[] = [];

  constructor(question: PackQuestion) {
    this.#question = question;
  }

  /** Takes the next record of the source. */
  take(record: AttestationRecord): void {
    const { side, from } = extendRuns(this.runs, record, this.#question);
    const isFirst = from === record.sourceSeq;
    if (side === 'before' && !isFirst) this.#kept.pop();
    const { seq, sourceSeq } = record;
    if (side !== 'after' || isFirst) this.#kept.push({ seq, sourceSeq });
  }

  /** Of the kept ones those at some places. */
  seqs({ from, to }: Range): number[] {
    return this.#kept.flatMap(({ seq, sourceSeq }) => (sourceSeq >= from && sourceSeq <= to ? [seq] : []));
  }
}

function noteErasure(erasures: Map<RecordId, Erasure>, { id, kind, links, submittedAt: at }: AttestationRecord): void {
  if (kind !== 'erasure') return;
  for (const erased of links.erased ?? []) if (!erasures.has(erased)) erasures.set(erased, { id, at });
}

function ascending(seqs: readonly number[]): Float64Array {
  return Float64Array.from(seqs).sort();
}
