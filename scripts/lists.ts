// npm run lists -- import DIR | update | status: the official lists of running nodes.
import { listsCommand } from './lists/command.ts';

process.exitCode = await listsCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
