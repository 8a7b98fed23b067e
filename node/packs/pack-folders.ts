import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackId } from '../../protocol/api/evidence-packs.ts';
import { PACK_FILE } from './pack-calls.ts';

/**
 * The folders of packs, each with the file of its pack, or with what is made of it so far. All can be lost: it is made
 * again of what the store has.
 */
export class PackFolders {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  of(id: PackId): string {
    return join(this.#folder, id);
  }

  fileOf(id: PackId): string {
    return join(this.of(id), PACK_FILE);
  }

  /** Length of the file of a pack; undefined where there is none. */
  async sizeOf(id: PackId): Promise<number | undefined> {
    try {
      return (await stat(this.fileOf(id))).size;
    } catch {
      return undefined;
    }
  }

  /** Of a pack that is made: what it was made of is in its file. */
  async keepFile(id: PackId): Promise<void> {
    for (const name of await readdir(this.of(id))) {
      if (name !== PACK_FILE) await rm(join(this.of(id), name), { recursive: true, force: true });
    }
  }

  /**
   * Takes away all of a pack. The folder loses its name first: a thread that is about to end writes into what is being
   * deleted, and never into what is made after it.
   */
  async remove(id: PackId): Promise<void> {
    const gone = `${this.of(id)}.${randomUUID()}.gone`;
    try {
      await rename(this.of(id), gone);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
      throw error;
    }
    await rm(gone, { recursive: true, force: true });
  }

  /** Takes away what belongs to no pack: of deletions that a stop cut short, and of packs that are gone. */
  async removeOthers(ids: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      if (name.startsWith('pack_') && !ids.has(name)) {
        await rm(join(this.#folder, name), { recursive: true, force: true });
      }
    }
  }
}
