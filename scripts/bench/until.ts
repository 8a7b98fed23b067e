import { setTimeout as sleep } from 'node:timers/promises';

/** Pause between two looks, in milliseconds. */
const LOOK_MS = 20;

/** Looks again until the condition holds. Throws with its name when it does not in time, or when the bench is ended. */
export async function until(
  what: string,
  patienceMs: number,
  signal: AbortSignal,
  holds: () => Promise<boolean> | boolean,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${what}`);
    await sleep(LOOK_MS, undefined, { signal });
  }
}
