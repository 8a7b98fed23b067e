// npm run node-key -- COMMAND: the keys that a node itself signs with.
import { nodeKeyCommand } from './node-key/command.ts';

process.exitCode = await nodeKeyCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
});
