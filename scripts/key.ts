// npm run key -- COMMAND: accounts and API keys of running nodes.
import { text } from 'node:stream/consumers';
import { keyCommand } from './key/command.ts';

process.exitCode = await keyCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  read: () => text(process.stdin),
});
