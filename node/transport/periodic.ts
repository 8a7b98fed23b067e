import { setTimeout as sleep } from 'node:timers/promises';

/** Runs `turn` every `interval` milliseconds until the signal ends; a turn never overlaps the next. Never rejects. */
export async function periodically(interval: number, signal: AbortSignal, task: () => Promise<void> | void) {
  while (!signal.aborted) {
    await task();
    await sleep(interval, undefined, { signal }).catch(() => undefined);
  }
}
