import { parentPort } from 'node:worker_threads';
import { readEditionEntries } from './lists/edition-files.ts';
import { packEdition } from './pack-edition.ts';
import { arraysOf } from './packed-edition.ts';
import type { PackingOrder, PackingWord } from './packing-thread.ts';

parentPort?.on('message', async ({ directory, edition }: PackingOrder) => {
  try {
    const packed = await packEdition(readEditionEntries(directory, edition));
    // An array that shares its buffer with others cannot be given away; it is copied then.
    const own = arraysOf(packed).flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []));
    say({ packed }, own);
  } catch (error) {
    say({ failed: error instanceof Error ? error.message : String(error) });
  }
});

function say(word: PackingWord, buffers: ArrayBuffer[] = []): void {
  parentPort?.postMessage(word, buffers);
}
