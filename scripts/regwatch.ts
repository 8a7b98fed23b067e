// npm run regwatch -- COMMAND: the regulatory feed of running nodes.
import { regwatchCommand } from './regwatch/command.ts';

process.exitCode = await regwatchCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
