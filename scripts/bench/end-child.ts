import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Time that a process has to end by itself before it is killed. In milliseconds. */
const STOP_MS = 3_500;

/** Ends a process of the bench, by its pid, unless it has ended; resolves once it is gone. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}
