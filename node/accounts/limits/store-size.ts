import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

const TABLE_FILE = '.ldb';

interface SeenFile {
  readonly bytes: number;
  /** Two looks found the same: LevelDB writes a table once and never again. */
  readonly isSettled: boolean;
}

/** Bytes of a LevelDB's files. Tables are looked at until they are written, so a look costs little however many there are. */
export class StoreSize {
  readonly #directory: string;
  #seen = new Map<string, SeenFile>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Reads the folder. Throws the file system's error. */
  async measure(): Promise<number> {
    const seen = new Map<string, SeenFile>();
    let total = 0;
    for (const name of await readdir(this.#directory)) {
      const before = this.#seen.get(name);
      const file = before?.isSettled === true ? before : await this.#look(name, before);
      if (file === undefined) continue;
      seen.set(name, file);
      total += file.bytes;
    }
    this.#seen = seen;
    return total;
  }

  /** Undefined where LevelDB has removed the file meanwhile. */
  async #look(name: string, before: SeenFile | undefined): Promise<SeenFile | undefined> {
    try {
      const { size } = await stat(join(this.#directory, name));
      return { bytes: size, isSettled: name.endsWith(TABLE_FILE) && size > 0 && before?.bytes === size };
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
