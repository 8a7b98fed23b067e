// npm run console -- --node eu: an operator's screens of a running node, in a browser on this machine.
import { consoleCommand } from './console/command.ts';

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
process.exitCode = await consoleCommand(
  process.argv.slice(2),
  { out: (line) => console.log(line), err: (line) => console.error(line) },
  ending.signal,
);
