import { writeFileSync } from 'node:fs';
import type { Commit, CommitGate } from '../../node/store/operation.ts';
import { logBytes, tearLog } from '../fixtures/store-log.ts';
import { markOf, type RowMark, rowOfStep, type WriteStep } from './write-path.ts';

/** When the process dies: in the middle of a write, or when it is on the disk and nobody was told. */
export type Moment = 'during' | 'after';

/** What a dying process leaves: the row at whose write it died, and the length of the store's log before. */
export interface DeathMark extends RowMark {
  readonly logBytes: number;
}

/** A gate that kills its own process with SIGKILL at one step of the write path, and leaves a mark of it. */
export class Death {
  readonly gate: CommitGate = (commit) => this.#pass(commit);
  readonly #markFile: string;
  #armed: { readonly step: WriteStep; readonly moment: Moment; readonly after: number } | undefined;

  constructor(markFile: string) {
    this.#markFile = markFile;
  }

  /** Kills at the next write that makes the step for a number above `after`. */
  arm(step: WriteStep, moment: Moment, after: number): void {
    this.#armed = { step, moment, after };
  }

  async #pass({ directory, operations, sync }: Commit): Promise<void> {
    const row = this.#armed && rowOfStep(this.#armed.step, operations, this.#armed.after);
    if (this.#armed === undefined || row === undefined) return sync();
    const { moment } = this.#armed;
    const before = logBytes(directory);
    const mark: DeathMark = { ...markOf(row), logBytes: before };
    writeFileSync(this.#markFile, JSON.stringify(mark));
    await sync();
    if (moment === 'during') tearLog(directory, before);
    process.kill(process.pid, 'SIGKILL');
  }
}
