import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import type { SourceRecords } from './source-records.ts';

/** Records of a source that a history looks at, at most. */
export const MAX_MODEL_LOOKS = 200;

/** A row of records that were looked at, one after the other, and name the same model. */
export interface ModelRun {
  readonly modelId: string;
  readonly modelVersion: string | null;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly firstAt: Timestamp;
  readonly lastAt: Timestamp;
}

export interface ModelHistory {
  readonly looked: number;
  /** The oldest first. */
  readonly runs: readonly ModelRun[];
}

/**
 * Which models the records of a source name, over time: of all of them up to `MAX_MODEL_LOOKS`, else of as many, evenly
 * spread, with the first and the last. Records that name none, and those that cannot be read, break no row; nor do
 * those that are not shown.
 */
export async function modelHistory(
  records: Pick<SourceRecords, 'at'>,
  { from, to }: { readonly from: number; readonly to: number },
  isShown: (record: AttestationRecord) => boolean,
): Promise<ModelHistory> {
  const slices = new TimeSlices();
  const runs: ModelRun[] = [];
  const places = placesBetween(from, to);
  for (const place of places) {
    if (slices.isOver) await slices.rest();
    const found = await records.at(place);
    if (found.state === 'whole' && isShown(found.record)) extend(runs, found.record);
  }
  return { looked: places.length, runs };
}

function placesBetween(from: number, to: number): readonly number[] {
  const count = Math.min(MAX_MODEL_LOOKS, Math.max(0, to - from + 1));
  const step = count < 2 ? 0 : (to - from) / (count - 1);
  return Array.from({ length: count }, (_, i) => from + Math.round(i * step));
}

function extend(runs: ModelRun[], { claims, sourceSeq, submittedAt }: AttestationRecord): void {
  const { modelId, modelVersion = null } = claims;
  if (modelId === undefined) return;
  const last = runs.at(-1);
  const goesOn = last?.modelId === modelId && last.modelVersion === modelVersion;
  const run = goesOn ? last : { modelId, modelVersion, firstSeq: sourceSeq, firstAt: submittedAt };
  if (goesOn) runs.pop();
  runs.push({ ...run, lastSeq: sourceSeq, lastAt: submittedAt });
}
