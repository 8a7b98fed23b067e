// npm run restore -- BACKUP --home DIR: makes a node's home of a backup.
import { restoreCommand } from './restore/command.ts';

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
process.exitCode = await restoreCommand(
  process.argv.slice(2),
  { out: (line) => console.log(line), err: (line) => console.error(line) },
  interrupt.signal,
);
