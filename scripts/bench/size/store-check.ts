import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ALLOCATOR_VARIABLES } from '../../../cluster/supervisor/parts.ts';
import { member } from '../federation/cluster-client.ts';
import { endChild } from '../end-child.ts';
import { mostResidentBytes } from '../attacks/resident-memory.ts';
import { type ProcessorTime, processorTime } from '../processor-time.ts';

/** As `npm run fsck` starts it. */
const HEAP_FLAGS = ['--max-semi-space-size=8'];
const FSCK = join(import.meta.dirname, '../../fsck.ts');

export interface StoreCheck {
  readonly seconds: number;
  readonly records: number;
  /** Memory of its own that the process held at most, in bytes. */
  readonly own: number;
  /** Of the processor, from the start of the process until shortly before its end. */
  readonly processor: ProcessorTime;
}

/** Between two looks at the processor time of the check, in milliseconds. */
const LOOK_MS = 100;

/**
 * `npm run fsck` on the home of a stopped node. Throws where the store is not whole. `threads`: as many as it takes by
 * itself.
 */
export async function checkStore(home: string, signal: AbortSignal, threads?: number): Promise<StoreCheck> {
  const args = [
    ...HEAP_FLAGS,
    FSCK,
    home,
    '--json',
    '--quiet',
    ...(threads === undefined ? [] : [`--threads=${threads}`]),
  ];
  const env = { ...process.env, ...ALLOCATOR_VARIABLES };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const over = new AbortController();
  const abort = (): void => void endChild(child);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const most = mostResidentBytes(child.pid ?? 0, over.signal);
    const processor = mostProcessorTime(child.pid ?? 0, over.signal);
    const answer: unknown = JSON.parse(await text(child.stdout));
    over.abort();
    signal.throwIfAborted();
    const [seconds, records] = [member(answer, 'seconds'), member(member(answer, 'counts'), 'records')];
    if (member(answer, 'whole') !== true || typeof seconds !== 'number' || typeof records !== 'number') {
      throw new Error(`${home} is not whole: ${JSON.stringify(member(answer, 'findings'))}`);
    }
    return { seconds, records, own: (await most).own, processor: await processor };
  } finally {
    over.abort();
    signal.removeEventListener('abort', abort);
    await endChild(child);
  }
}

async function mostProcessorTime(pid: number, signal: AbortSignal): Promise<ProcessorTime> {
  let most: ProcessorTime = { main: 0, all: 0 };
  do {
    const now = await processorTime(pid).catch(() => undefined);
    if (now === undefined) break;
    // What threads took that ended is not counted any more.
    if (now.all > most.all) most = now;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  } while (!signal.aborted);
  return most;
}
