import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { member } from '../federation/cluster-client.ts';
import { endChild } from '../end-child.ts';
import { mostResidentBytes } from '../hostile/resident-memory.ts';

const FSCK = join(import.meta.dirname, '../../fsck.ts');

export interface StoreCheck {
  readonly seconds: number;
  readonly records: number;
  /** Memory of its own that the process held at most, in bytes. */
  readonly own: number;
}

/** `npm run fsck` on the home of a stopped node. Throws where the store is not whole. */
export async function checkStore(home: string, signal: AbortSignal): Promise<StoreCheck> {
  const child = spawn(process.execPath, [FSCK, home, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const over = new AbortController();
  const abort = (): void => void endChild(child);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const most = mostResidentBytes(child.pid ?? 0, over.signal);
    const answer: unknown = JSON.parse(await text(child.stdout));
    over.abort();
    signal.throwIfAborted();
    const [seconds, records] = [member(answer, 'seconds'), member(member(answer, 'counts'), 'records')];
    if (member(answer, 'whole') !== true || typeof seconds !== 'number' || typeof records !== 'number') {
      throw new Error(`${home} is not whole: ${JSON.stringify(member(answer, 'findings'))}`);
    }
    return { seconds, records, own: (await most).own };
  } finally {
    over.abort();
    signal.removeEventListener('abort', abort);
    await endChild(child);
  }
}
