import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const KIBIBYTE = 1 << 10;
const LOOK_MS = 100;

/** Bytes of a process that are in memory (Linux). */
export interface ResidentBytes {
  /** Its own: heaps, buffers, stacks. */
  readonly own: number;
  /**
   * Pages of files that it has mapped, programs and tables of the store: the system takes them back when it is short.
   */
  readonly files: number;
}

export async function residentBytes(pid: number): Promise<ResidentBytes> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number => {
    const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    if (kibibytes === undefined) throw new Error(`process ${pid} has no memory`);
    return Number(kibibytes) * KIBIBYTE;
  };
  return { own: bytes('RssAnon') + bytes('RssShmem'), files: bytes('RssFile') };
}

/** The most of each until the signal, or the end of the process. */
export async function mostResidentBytes(pid: number, signal: AbortSignal): Promise<ResidentBytes> {
  let most: ResidentBytes = { own: 0, files: 0 };
  do {
    const now = await residentBytes(pid).catch(() => undefined);
    if (now === undefined) break;
    most = { own: Math.max(most.own, now.own), files: Math.max(most.files, now.files) };
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  } while (!signal.aborted);
  return most;
}
