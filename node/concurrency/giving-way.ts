// Loaded by a thread before its script: the thread gives way to the event loop, for whose answers people wait, wherever
// both want a processor. Niceness is a thread's own on Linux alone (sched(7)); elsewhere nothing is changed.
import { constants, getPriority, setPriority } from 'node:os';

/** How much nicer than the event loop: a tenth of its weight. */
const NICER = 10;

if (process.platform === 'linux') {
  try {
    setPriority(Math.min(getPriority() + NICER, constants.priority.PRIORITY_LOW));
  } catch {
    // A container may forbid it: then the thread has the same weight as the event loop.
  }
}
