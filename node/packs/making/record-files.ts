import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Static } from 'typebox';
import { Compile } from '../../../protocol/shape-check.ts';
import { Closed, CountShape } from '../../../protocol/shapes.ts';
import { LineFile } from './line-file.ts';

/** Files that grow together while records are written, by the names that they have in the folder of a pack. */
export const GROWING = {
  batches: 'batches.jsonl',
  groups: 'groups.jsonl',
  records: 'records.jsonl',
  table: 'records.csv',
};
const PROGRESS_FILE = 'progress.json';

const MarkShape = Closed({
  /** Asked records that are behind us, whole batches of them, and those of them that are in the files. */
  done: CountShape,
  records: CountShape,
  /** Lengths of the files then. */
  lengths: Closed({ batches: CountShape, groups: CountShape, records: CountShape, table: CountShape }),
});
/** How far the files of a pack are whole. */
export type Mark = Readonly<Static<typeof MarkShape>>;

const START: Mark = { done: 0, records: 0, lengths: { batches: 0, groups: 0, records: 0, table: 0 } };
const check = Compile(MarkShape);

/**
 * The files of a pack that grow record by record. Crash order: a mark is written once all that it counts is on the disk;
 * what stands behind the last mark is dropped when the files are opened again.
 */
export class RecordFiles implements AsyncDisposable {
  readonly #folder: string;
  readonly #files: Readonly<Record<keyof typeof GROWING, LineFile>>;
  /** Where the files were gone on with. */
  readonly begun: Mark;

  private constructor(folder: string, files: RecordFiles['files'], begun: Mark) {
    this.#folder = folder;
    this.#files = files;
    this.begun = begun;
  }

  /** Goes on where the last mark is. */
  static async open(folder: string): Promise<RecordFiles> {
    const begun = await lastMark(folder);
    const at = (name: keyof typeof GROWING) => LineFile.open(join(folder, GROWING[name]), begun.lengths[name]);
    const [batches, groups, records, table] = [
      await at('batches'),
      await at('groups'),
      await at('records'),
      await at('table'),
    ];
    return new RecordFiles(folder, { batches, groups, records, table }, begun);
  }

  get files(): Readonly<Record<keyof typeof GROWING, LineFile>> {
    return this.#files;
  }

  /** From now on a kill loses nothing of what was written so far. */
  async mark(done: number, records: number): Promise<void> {
    const { batches, groups, records: lines, table } = this.#files;
    const lengths = {
      batches: await batches.flush(),
      groups: await groups.flush(),
      records: await lines.flush(),
      table: await table.flush(),
    };
    const mark: Mark = { done, records, lengths };
    const path = join(this.#folder, PROGRESS_FILE);
    await writeFile(`${path}.new`, JSON.stringify(mark), { flush: true });
    await rename(`${path}.new`, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const file of Object.values(this.#files)) await file[Symbol.asyncDispose]();
  }
}

/** Nothing is done yet where there is no mark, or none that reads. */
async function lastMark(folder: string): Promise<Mark> {
  try {
    const mark: unknown = JSON.parse(await readFile(join(folder, PROGRESS_FILE), 'utf8'));
    return check.Check(mark) ? mark : START;
  } catch {
    return START;
  }
}
