import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { recordId } from '../../protocol/ids.ts';
import { readRecord } from '../records/record-reader.ts';
import { readTimeSteps, type TimeStep } from '../records/time-steps.ts';
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
  let steps: readonly TimeStep[] | undefined;
  for await (const [, id] of governanceTable.under(store, [account, kind], { reverse: true, limit })) {
    const record = (await readRecord(store, recordId(id)))?.record;
    if (record === undefined) continue;
    if (Date.parse(record.submittedAt) >= since) {
      yield record;
      continue;
    }
    // Earlier records were made before that time too, but where the clock was ahead of it in between.
    steps ??= await readTimeSteps(store, record.node);
    if (!steps.some(({ seq, before }) => seq <= record.seq && Date.parse(before) >= since)) return;
  }
}
