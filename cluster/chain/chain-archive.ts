import { existsSync } from 'node:fs';
import { type FileHandle, open, readFile, rename, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { Hex } from 'viem';

/** A block as it is needed to mine it again. */
export interface ArchivedBlock {
  readonly number: number;
  /** In epoch seconds. */
  readonly timestamp: number;
  /** Signed transactions, in order. */
  readonly transactions: readonly Hex[];
}

const SNAPSHOT_FILE = 'snapshot.json';
const JOURNAL_FILE = 'journal.jsonl';

const BlockShape = Type.Object({
  number: Type.Integer({ minimum: 0 }),
  timestamp: Type.Integer({ minimum: 0 }),
  transactions: Type.Array(Type.Unsafe<Hex>(Type.String({ pattern: '^0x[0-9a-f]+$' }))),
});
const compiled = Compile(BlockShape);

/**
 * What a chain is brought back from: a snapshot of its state at some block, and a journal of the blocks since. A crash
 * may leave blocks in the journal that the snapshot holds already; it never leaves a gap.
 */
export class ChainArchive implements AsyncDisposable {
  readonly #directory: string;
  #journal: FileHandle;
  /** Blocks in the journal. */
  #length: number;

  private constructor(directory: string, journal: FileHandle, length: number) {
    this.#directory = directory;
    this.#journal = journal;
    this.#length = length;
  }

  /** Opens the folder and gives the blocks of its journal. A line that a killed process left unfinished is cut off. */
  static async open(directory: string): Promise<{ readonly archive: ChainArchive; readonly blocks: ArchivedBlock[] }> {
    const file = join(directory, JOURNAL_FILE);
    const blocks = existsSync(file) ? await readJournal(file) : [];
    const journal = await open(file, 'a', 0o600);
    return { archive: new ChainArchive(directory, journal, blocks.length), blocks };
  }

  /** Null where there was no chain yet. */
  get snapshotFile(): string | null {
    const file = this.#file(SNAPSHOT_FILE);
    return existsSync(file) ? file : null;
  }

  get length(): number {
    return this.#length;
  }

  /** Resolves once the blocks survive the end of any process; a power failure may still cut the last ones off. */
  async append(blocks: readonly ArchivedBlock[]): Promise<void> {
    if (blocks.length === 0) return;
    await this.#journal.appendFile(linesOf(blocks));
    this.#length += blocks.length;
  }

  /** Keeps a state that holds every block of the journal. The journal is emptied after the state is on the disk. */
  async keepSnapshot(state: Uint8Array): Promise<void> {
    await writeWhole(this.#file(SNAPSHOT_FILE), state);
    await this.#journal.close();
    await writeWhole(this.#file(JOURNAL_FILE), new Uint8Array());
    this.#journal = await open(this.#file(JOURNAL_FILE), 'a', 0o600);
    this.#length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#journal.close();
  }

  #file(name: string): string {
    return join(this.#directory, name);
  }
}

async function readJournal(file: string): Promise<ArchivedBlock[]> {
  const text = await readFile(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) await truncate(file, Buffer.byteLength(whole));
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line, i) => {
      const block: unknown = parsed(line);
      if (!compiled.Check(block)) throw new Error(`${file}: line ${i + 1} is no block`);
      return block;
    });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function linesOf(blocks: readonly ArchivedBlock[]): string {
  return blocks.map((block) => `${JSON.stringify(block)}\n`).join('');
}

async function writeWhole(file: string, content: Uint8Array): Promise<void> {
  const unfinished = await open(`${file}.new`, 'w', 0o600);
  try {
    await unfinished.writeFile(content);
    await unfinished.datasync();
  } finally {
    await unfinished.close();
  }
  await rename(`${file}.new`, file);
}
