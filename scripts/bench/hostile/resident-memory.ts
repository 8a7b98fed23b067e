import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const KIBIBYTE = 1 << 10;
const LOOK_MS = 100;

/** Bytes of a process that are in memory (Linux). */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  if (kibibytes === undefined) throw new Error(`process ${pid} has no memory`);
  return Number(kibibytes) * KIBIBYTE;
}

/** The most of them until the signal. */
export async function mostResidentBytes(pid: number, signal: AbortSignal): Promise<number> {
  let most = 0;
  do {
    most = Math.max(most, await residentBytes(pid));
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  } while (!signal.aborted);
  return most;
}
