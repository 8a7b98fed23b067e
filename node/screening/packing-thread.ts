import type { Edition, Lists } from './lists/contract.ts';
import type { EditionManifest } from './lists/edition-manifest.ts';
import { readEditionEntries } from './lists/edition-files.ts';
import { WorkerPool } from '../concurrency/worker-pool.ts';
import type { Pack } from './list-searches.ts';
import { packEdition } from './pack-edition.ts';
import type { PackedEdition } from './packed-edition.ts';

/** What a thread is told. It reads the very files of the edition, or fails. */
export interface PackingOrder {
  /** Folder with the files of the edition. */
  readonly directory: string;
  readonly edition: Pick<EditionManifest, 'listId' | 'files'>;
}

/** What it says once, in the end. */
export type PackingWord = { readonly packed: PackedEdition } | { readonly failed: string };

/** Editions up to this size are packed between requests: a thread takes longer to start. In bytes. */
const PACK_HERE_BYTES = 64 << 10;
/** Memory that a thread may take: several times what the largest real list needs. In MiB. */
const MAX_HEAP_MIB = 1_024;
/** In milliseconds: an edition that takes longer is given up. */
const PACKING_MS = 120_000;
/** Editions that are packed at the same time. */
const THREADS = 2;

const PACKERS = new WorkerPool<PackingOrder, PackingWord>({
  script: new URL('./packing-worker.ts', import.meta.url),
  threads: THREADS,
  heapMiB: MAX_HEAP_MIB,
  orderMs: PACKING_MS,
  idleMs: 0,
});

/**
 * Packs editions from their files, each but the smallest in a thread of its own that ends with it and leaves no garbage
 * behind.
 */
export function packInThread(lists: Pick<Lists, 'directoryOf'>): Pack {
  return async (edition: Edition, signal: AbortSignal): Promise<PackedEdition> => {
    const { listId, files } = edition;
    const order: PackingOrder = {
      directory: lists.directoryOf(edition),
      edition: { listId, files: [...files] },
    };
    if (isSmall(files)) return packEdition(readEditionEntries(order.directory, order.edition));
    const word = await PACKERS.run(order, signal);
    if ('failed' in word) throw new Error(word.failed);
    return word.packed;
  };
}

/** Packed files hold more than they are long. */
function isSmall(files: Edition['files']): boolean {
  const isPacked = files.some(({ name }) => name.endsWith('.gz'));
  return !isPacked && files.reduce((sum, { bytes }) => sum + bytes, 0) <= PACK_HERE_BYTES;
}
