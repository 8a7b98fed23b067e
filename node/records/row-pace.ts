import type { AttestationRecord } from '../../protocol/chain/record.ts';

/** Records that memory alone may count: as many are read and counted again at the start after a crash. */
export const MAX_UNWRITTEN_RECORDS = 1_000;
/** Rows are put off where they were written less than so long ago. In milliseconds. */
export const MIN_WRITE_PAUSE_MS = 1_000;

/** A write of records, as their counter takes part in it. */
export interface StagedRows {
  readonly records: number;
  /** Whether it holds the rows of all counts that memory has, and the mark. */
  readonly withRows: boolean;
  /** The first record that is not counted after it. */
  readonly next: number;
}

/**
 * When the rows of a counter are written: they follow from records, so that a crash loses nothing that cannot be
 * counted again, and most of them would be written over with the next group.
 */
export class RowPace {
  readonly #monotonic: () => number;
  #unwritten = 0;
  /** The first record that is not counted; 0 where nothing was counted yet. */
  #next = 0;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** `monotonic`: a clock that no step moves, in milliseconds. Default: that of the process. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** What a write of these records is for their counter. `writesAll`: the rows go into it in any case. */
  stage(records: readonly Pick<AttestationRecord, 'seq'>[], writesAll: boolean): StagedRows {
    const last = records.at(-1);
    return {
      records: records.length,
      withRows: writesAll || this.#isDue(records.length),
      next: last === undefined ? this.#next : last.seq + 1,
    };
  }

  /** Such a write is on the disk. */
  committed({ records, withRows, next }: StagedRows): void {
    this.#next = next;
    this.#unwritten = withRows ? 0 : this.#unwritten + records;
    if (withRows) this.#writtenAt = this.#monotonic();
  }

  #isDue(records: number): boolean {
    if (records === 0) return false;
    const isMany = this.#unwritten + records >= MAX_UNWRITTEN_RECORDS;
    return isMany || this.#monotonic() - this.#writtenAt >= MIN_WRITE_PAUSE_MS;
  }
}
