import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EditionManifest } from '../../../node/screening/lists/edition-manifest.ts';
import { editionDirectory, type IncomingFile, stageEdition } from '../../../node/screening/lists/edition-staging.ts';
import { readEditionEntries } from '../../../node/screening/lists/edition-files.ts';
import { readListFolder } from '../../../node/screening/lists/list-folder.ts';
import { LIST_IDS, type ListId } from '../../../node/screening/lists/list-id.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count } from '../table.ts';
import { writeLargeEdition } from './large-edition.ts';

/** Real lists, where a folder of them lies beside the project. */
const REAL_LISTS = fileURLToPath(new URL('../../../../shared/data/lists', import.meta.url));
const MEBIBYTE = 1 << 20;
const FULL = { rounds: 5, entries: 50_000 };
const QUICK = { rounds: 1, entries: 5_000 };

interface Measured {
  readonly manifest: EditionManifest;
  readonly importMs: number;
  readonly readMs: readonly number[];
  readonly peakMebibytes: number;
}

/** Entries that a node takes in a second, and reads again, and what memory that costs. */
export const lists: Part = {
  name: 'lists',
  title: 'Official lists: import and reading',
  async run(options): Promise<Result> {
    const { quick, home, say } = options;
    const root = join(home, 'lists');
    const incoming = await sources(quick ? QUICK.entries : FULL.entries, home, say);
    const rows: (readonly string[])[] = [];
    for (const [listId, files] of incoming) {
      const measured = await measure(root, listId, files, options);
      rows.push(rowOf(listId, measured));
      say(`${listId}: ${count(measured.manifest.entryCount)} entries`);
    }
    return {
      table: [['list', 'entries', 'names', 'import ms', 'entries/s', 'read ms', 'entries/s', 'heap MiB'], ...rows],
      notes: [
        'Import: files copied, hashed, packed, synced, and read to their end in a thread of their own, whose start is part of',
        'it. Read: unpacked, hashed and read once more in this thread, the median of the rounds. Heap: its growth while',
        'reading, entries let go of one by one.',
      ],
    };
  },
};

async function measure(
  root: string,
  listId: ListId,
  files: readonly IncomingFile[],
  { quick, signal }: BenchOptions,
): Promise<Measured> {
  const started = performance.now();
  const manifest = await stageEdition(root, listId, files);
  const importMs = performance.now() - started;
  const readMs: number[] = [];
  let peak = 0;
  for (let round = 0; round < (quick ? QUICK : FULL).rounds; round++) {
    signal.throwIfAborted();
    const before = process.memoryUsage().heapUsed;
    const from = performance.now();
    let entries = 0;
    for await (const _ of readEditionEntries(editionDirectory(root, listId, manifest.fileHash))) {
      if (++entries % 1000 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    }
    readMs.push(performance.now() - from);
  }
  return { manifest, importMs, readMs, peakMebibytes: peak / MEBIBYTE };
}

function rowOf(listId: ListId, { manifest, importMs, readMs, peakMebibytes }: Measured): readonly string[] {
  const { entryCount, nameCount } = manifest;
  const read = median(readMs);
  return [
    listId,
    count(entryCount),
    count(nameCount),
    count(importMs),
    count((entryCount / importMs) * 1000),
    count(read),
    count((entryCount / read) * 1000),
    peakMebibytes.toFixed(1),
  ];
}

/** The real lists, or one of our own making of about their size. */
async function sources(
  entries: number,
  home: string,
  say: (line: string) => void,
): Promise<ReadonlyMap<ListId, readonly IncomingFile[]>> {
  const isThere = await access(REAL_LISTS).then(
    () => true,
    () => false,
  );
  if (!isThere) say(`no real lists beside the project: measured with ${count(entries)} made-up entries`);
  const directory = isThere ? REAL_LISTS : await writeLargeEdition(join(home, 'made-up'), entries);
  const found = new Map<ListId, readonly IncomingFile[]>();
  for (const listId of LIST_IDS) {
    const folder = await readListFolder(directory, listId);
    if (folder !== undefined) found.set(listId, folder.files);
  }
  return found;
}
