// npm run fsck -- DIR: proves the store of a stopped node whole.
import { fsckCommand } from '../node/fsck/command.ts';
import { boundHeapGrowth } from '../node/metrics/heap-growth.ts';

/** Heaps here are small, and nobody waits for a turn of the event loop: looking through them less often pays. */
const HEAP_GROWTH_PERCENT = 150;

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());
boundHeapGrowth(HEAP_GROWTH_PERCENT);
process.exitCode = await fsckCommand(process.argv.slice(2), process.stdout, process.stderr, interrupt.signal);
