// npm run backup -- --node ID --to DIR: a consistent copy of a node's home, taken while it runs.
import { backupCommand } from './backup/command.ts';

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());
process.exitCode = await backupCommand(
  process.argv.slice(2),
  { out: (line) => console.log(line), err: (line) => console.error(line), progress: process.stderr },
  interrupt.signal,
);
