// npm run monitor: watches a federation from outside.
import { monitorCommand } from './monitor/command.ts';

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());

process.exitCode = await monitorCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  signal: ending.signal,
});
