import { link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Store } from '../store/store.ts';

/** Folder beside the store in which a check works. */
const WORK_PREFIX = 'fsck-';
const LOCK = 'LOCK';
/** Rows are read once, in order or by keys that ascend with them: more would only stand in memory. In bytes. */
const BUFFER_BYTES = 16 << 20;
/** Text for people: LevelDB would start it anew in the view. */
const NOT_LINKED = new Set([LOCK, 'LOG', 'LOG.old']);

/**
 * A store held still while it is checked, and never written: its lock file, linked into another database, keeps nodes
 * out for as long as this lives; its data files, linked into a third, can be opened, which folds their log into a table
 * there. LevelDB replaces files and never writes into one it finds, so the originals keep every byte.
 */
export class StoreView implements AsyncDisposable {
  readonly #work: string;
  readonly #directory: string;
  readonly #resources: AsyncDisposableStack;

  private constructor(work: string, directory: string, resources: AsyncDisposableStack) {
    this.#work = work;
    this.#directory = directory;
    this.#resources = resources;
  }

  /** Throws `StoreError` `locked` while another process has the store open, and the file system's error. */
  static async open(home: string, directory: string): Promise<StoreView> {
    await using opening = new AsyncDisposableStack();
    const work = await mkdtemp(join(home, WORK_PREFIX));
    opening.defer(() => rm(work, { recursive: true, force: true }));
    const names = await readdir(directory);
    if (names.includes(LOCK)) {
      const holder = join(work, 'lock');
      await mkdir(holder);
      await link(join(directory, LOCK), join(holder, LOCK));
      opening.use(await Store.open(holder));
      await removeAbandoned(home, work);
    }
    return new StoreView(work, directory, opening.move());
  }

  /** Opens the rows. Only sensible once the files are known to be whole: LevelDB passes over damage in silence. */
  async rows(): Promise<Store> {
    const view = join(this.#work, 'rows');
    await mkdir(view);
    for (const name of await readdir(this.#directory)) {
      if (!NOT_LINKED.has(name)) await link(join(this.#directory, name), join(view, name));
    }
    return this.#resources.use(await Store.open(view, { createIfMissing: false, bufferBytes: BUFFER_BYTES }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

/** What a killed check left behind. Only whoever holds the store's lock may tidy. */
async function removeAbandoned(home: string, own: string): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name);
    if (name.startsWith(WORK_PREFIX) && path !== own) await rm(path, { recursive: true, force: true });
  }
}
