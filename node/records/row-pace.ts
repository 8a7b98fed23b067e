/** Records that memory alone may count: as many are read and counted anew at the start after a crash. */
export const MAX_UNWRITTEN_RECORDS = 1_000;
/** Rows are put off where they were written less than so long ago. In milliseconds. */
export const MIN_WRITE_PAUSE_MS = 1_000;

/**
 * When the rows of a counter are written: they follow from records, so that a crash loses nothing that cannot be counted
 * anew, and most of them would be written over with the next group.
 */
export class RowPace {
  readonly #monotonic: () => number;
  #unwritten = 0;
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** `monotonic`: a clock that no step moves, in milliseconds. Default: that of the process. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Whether the rows go into the write of so many more records. */
  isDue(records: number): boolean {
    if (records === 0) return false;
    const isMany = this.#unwritten + records >= MAX_UNWRITTEN_RECORDS;
    return isMany || this.#monotonic() - this.#writtenAt >= MIN_WRITE_PAUSE_MS;
  }

  /** So many more records are on the disk, with the rows that count all of them. */
  written(): void {
    this.#unwritten = 0;
    this.#writtenAt = this.#monotonic();
  }

  /** So many more records are on the disk, and their rows are not. */
  putOff(records: number): void {
    this.#unwritten += records;
  }
}
