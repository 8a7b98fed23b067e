// npm run fsck -- DIR: proves the store of a stopped node whole.
import { fsckCommand } from '../node/fsck/command.ts';
import { boundHeapGrowth } from '../node/metrics/heap-growth.ts';

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());
boundHeapGrowth();
process.exitCode = await fsckCommand(process.argv.slice(2), process.stdout, process.stderr, interrupt.signal);
