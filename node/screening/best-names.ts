/** An entry that was found, and its best name. */
export interface BestName {
  readonly entry: number;
  readonly name: number;
  readonly rank: number;
}

/**
 * Gathers the best name of each entry that is found, without work for those that are not. Ownership: of one search at a
 * time, from the first `note` to `take`; what it holds in between is of that search.
 */
export class BestNames {
  /** Rank of an entry's best name and one more; 0: the entry was not found. */
  readonly #marks: Uint8Array;
  readonly #names: Uint32Array;
  #found: number[] = [];

  constructor(entries: number) {
    this.#marks = new Uint8Array(entries);
    this.#names = new Uint32Array(entries);
  }

  /** `rank`: below 255; lower ones are better, and of equals the first stays. */
  note(entry: number, name: number, rank: number): void {
    const mark = this.#marks[entry] ?? 0;
    if (mark === 0) this.#found.push(entry);
    else if (mark <= rank + 1) return;
    this.#marks[entry] = rank + 1;
    this.#names[entry] = name;
  }

  /**
   * How many were found and the first of them: those of a rank below `divide` before others, then in order of their
   * numbers. Nothing is held any more afterwards.
   */
  take(most: number, divide: number): { readonly count: number; readonly first: readonly BestName[] } {
    const entries = Uint32Array.from(this.#found).sort();
    const above: BestName[] = [];
    const below: BestName[] = [];
    for (const entry of entries) {
      const rank = (this.#marks[entry] ?? 0) - 1;
      const part = rank < divide ? above : below;
      if (part.length < most) part.push({ entry, name: this.#names[entry] ?? 0, rank });
      this.#marks[entry] = 0;
    }
    this.#found = [];
    return { count: entries.length, first: [...above, ...below].slice(0, most) };
  }
}
