import type { Table } from './table.ts';

export interface BenchOptions {
  /** Short rounds and few of them: shows that everything runs, and little else. */
  readonly quick: boolean;
  /** Empty folder of this part's own, removed after it. */
  readonly home: string;
  /** Ended when the user interrupts the bench. */
  readonly signal: AbortSignal;
  /** Tells the user what is being done. */
  readonly say: (line: string) => void;
}

/** One measurement of the bench. */
export interface Part {
  readonly name: string;
  readonly title: string;
  run(options: BenchOptions): Promise<Result>;
}

export interface Result {
  readonly table: Table;
  /** What was compared with what, in words that let a reader doubt the numbers. */
  readonly notes: readonly string[];
}
