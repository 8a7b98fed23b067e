import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { recordId } from '../../protocol/ids.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Reads } from '../store/store.ts';
import { governanceTable, type IndexedKind } from './governance-tables.ts';

export interface RecordedSince {
  /** When they were recorded at the earliest, in epoch milliseconds. */
  readonly since: number;
  /** Rows that are looked at. */
  readonly limit: number;
}

/** The own records of governance of an account and of a kind that were recorded from a time on, the newest first. */
export async function* recordedSince(
  store: Reads,
  account: string,
  kind: IndexedKind,
  { since, limit }: RecordedSince,
): AsyncGenerator<AttestationRecord> {
  for await (const [, id] of governanceTable.under(store, [account, kind], { reverse: true, limit })) {
    const record = (await readRecord(store, recordId(id)))?.record;
    if (record === undefined) continue;
    // Records of a node stand in order of time.
    if (Date.parse(record.submittedAt) < since) return;
    yield record;
  }
}
