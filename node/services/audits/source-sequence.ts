import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { type AttestationRecord, openRecord, recordLeaf } from '../../../protocol/chain/record.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { splitTexts } from '../../records/record-lines.ts';
import { bodyTable } from '../../records/record-tables.ts';
import { checkContinuity } from '../../records/sources/continuity.ts';
import { RecordLists } from '../../records/sources/record-page.ts';
import type { Store } from '../../store/store.ts';
import type { Evidence } from '../../verification/evidence.ts';
import { failed, type Outcome, passed, skipped } from './outcome.ts';

export interface SequenceSources {
  readonly store: Store;
  readonly self: NodeId;
}

/**
 * Records of another node that are looked through on either side: nodes index the sources of their own records alone.
 */
const MAX_LOOKS = 4_096;

/**
 * M5: the record stands in its source's sequence with no gap and no fork beside it. The neighbours' leaf hashes are
 * derived from their texts, which every node holds of every node.
 */
export function checkSourceSequence(sources: SequenceSources, evidence: Evidence): Promise<Outcome> {
  return evidence.record.node === sources.self ? checkOwn(sources, evidence) : checkOther(sources, evidence);
}

async function checkOwn({ store, self }: SequenceSources, { record }: Evidence): Promise<Outcome> {
  const { sourceSeq } = record;
  const records = new RecordLists(store, self).source(record.account, record.sourceId);
  const place = await records.at(sourceSeq);
  if (place.state !== 'whole') return failed(`its place in the sequence is ${place.state}`);
  if (place.record.id !== record.id) return failed('another record stands at its place in the sequence');
  const asked = { from: Math.max(1, sourceSeq - 1), to: sourceSeq + 1 };
  const { gaps, forks } = await checkContinuity(records, await records.end(record.sourceId), asked);
  if (gaps.length > 0) return failed('a record next to it is missing or damaged');
  return forks.length > 0 ? failed('a record next to it does not link to it') : passed('the records next to it link');
}

/** A record of the same source, and the hash of its leaf. */
interface Neighbour {
  readonly record: AttestationRecord;
  readonly leaf: Sha256Hash;
}

async function checkOther({ store }: SequenceSources, { record, proof }: Evidence): Promise<Outcome> {
  const { sourceSeq, seq } = record;
  const from = Math.max(1, seq - MAX_LOOKS);
  const near = await Array.fromAsync(neighbours(store, record, from, seq + MAX_LOOKS));
  const others = near.filter((neighbour) => neighbour.record.id !== record.id);
  if (others.some((other) => other.record.sourceSeq === sourceSeq)) return failed('another record has its place');
  if (others.some(({ record: other }) => other.seq < seq !== other.sourceSeq < sourceSeq)) {
    return failed('records of its source are out of order');
  }
  const before = others.findLast((other) => other.record.seq < seq);
  const after = others.find((other) => other.record.seq > seq);
  const own = writeSha256(recordLeaf(nativeSuite, proof.record.head));
  if (after !== undefined && (after.record.sourceSeq !== sourceSeq + 1 || after.record.sourcePrev !== own)) {
    return failed('the record after it does not link to it');
  }
  if (sourceSeq === 1) return passed('it is the first of its source, and the next links to it if there is one near');
  if (before === undefined) {
    if (from === 1) return failed('the record before it is missing');
    return skipped(`the record before it lies more than ${MAX_LOOKS} records back`);
  }
  if (before.record.sourceSeq !== sourceSeq - 1) return failed('the record before it is missing');
  return before.leaf === record.sourcePrev
    ? passed('the records next to it link')
    : failed('it does not link to the record before it');
}

/** Records of the subject's source and node with a seq from `from` to `to`, in order. */
async function* neighbours(
  store: Store,
  subject: AttestationRecord,
  from: number,
  to: number,
): AsyncGenerator<Neighbour> {
  // A canonical body has its members in order: most records are passed over unparsed.
  const start = `{"account":${canonicalize(subject.account)},`;
  const part = `,"sourceId":${canonicalize(subject.sourceId)},"sourcePrev":`;
  const first = await bodyTable.last(store, [subject.node], from);
  for await (const [[at = ''], row] of bodyTable.under(store, [subject.node], { from: Number(first?.[0] ?? from) })) {
    if (Number(at) > to) return;
    for (const [i, texts] of splitTexts(row).entries()) {
      const seq = Number(at) + i;
      if (seq < from || seq > to || !texts.body.startsWith(start) || !texts.body.includes(part)) continue;
      const record = openRecord(nativeSuite, texts);
      if (record.account !== subject.account || record.sourceId !== subject.sourceId) continue;
      yield { record, leaf: writeSha256(recordLeaf(nativeSuite, texts.head)) };
    }
    await yieldToEventLoop();
  }
}
