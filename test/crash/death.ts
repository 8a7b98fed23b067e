import { writeFileSync } from 'node:fs';
import type { Commit, CommitGate } from '../../node/store/operation.ts';
import { logBytes, tearLog } from '../fixtures/store-log.ts';
import { markOf, type RowMark, rowOfStep, type WriteStep } from './write-path.ts';

/** When the process dies: in the middle of a write, or when it is on the disk and nobody was told. */
export type Moment = 'during' | 'after';

/** A write that puts a row, or takes one away, whose key begins so. */
export interface RowWrite {
  readonly change: 'del' | 'put';
  readonly prefix: string;
}

/** What a dying process leaves: the row at whose write it died, and the length of the store's log before. */
export interface DeathMark extends RowMark {
  readonly logBytes: number;
}

/** A gate that kills its own process with SIGKILL at one step of the write path, and leaves a mark of it. */
export class Death {
  readonly gate: CommitGate = (commit) => this.#pass(commit);
  readonly #markFile: string;
  #armed: { readonly step: WriteStep; readonly moment: Moment; readonly after: number } | undefined;

  #row: { readonly write: RowWrite; readonly moment: Moment } | undefined;

  constructor(markFile: string) {
    this.#markFile = markFile;
  }

  /** Kills at the next write that makes the step for a number above `after`. */
  arm(step: WriteStep, moment: Moment, after: number): void {
    this.#armed = { step, moment, after };
  }

  /** Kills at the next write of such a row. */
  armRow(write: RowWrite, moment: Moment): void {
    this.#row = { write, moment };
  }

  async #pass(commit: Commit): Promise<void> {
    const { directory, operations, sync } = commit;
    if (this.#row !== undefined && holds(commit, this.#row.write)) return dieIn(commit, this.#row.moment);
    const row = this.#armed && rowOfStep(this.#armed.step, operations, this.#armed.after);
    if (this.#armed === undefined || row === undefined) return sync();
    const { moment } = this.#armed;
    const before = logBytes(directory);
    const mark: DeathMark = { ...markOf(row), logBytes: before };
    writeFileSync(this.#markFile, JSON.stringify(mark));
    await dieIn(commit, moment);
  }
}

function holds({ operations }: Commit, { change, prefix }: RowWrite): boolean {
  return operations.some(({ type, key }) => type === change && key.startsWith(prefix));
}

/** Ends this process by a write: torn on the disk, or whole. */
async function dieIn({ directory, sync }: Commit, moment: Moment): Promise<void> {
  const before = logBytes(directory);
  await sync();
  if (moment === 'during') tearLog(directory, before);
  process.kill(process.pid, 'SIGKILL');
}
