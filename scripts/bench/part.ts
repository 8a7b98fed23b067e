import type { TextTable } from './table.ts';

export interface BenchOptions {
  /** Short rounds and few of them: shows that everything runs, and little else. */
  readonly quick: boolean;
  /** The largest sizes too, which take hours and tens of gigabytes. */
  readonly large: boolean;
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
  /** Whether it runs only where it is named: it takes much longer, or much more of the disk, than all the others. */
  readonly isApart?: true;
  run(options: BenchOptions): Promise<Result>;
}

export interface Result {
  readonly table: TextTable;
  /** What was compared with what, in words that let a reader doubt the numbers. */
  readonly notes: readonly string[];
}
