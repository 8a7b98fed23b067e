// npm run roster -- COMMAND: the federation's rosters, from genesis on.
import { rosterCommand } from './roster/command.ts';

process.exitCode = await rosterCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
