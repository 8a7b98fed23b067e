// npm run pay -- METHOD PATH: pays for one call of a node, by its price, and verifies what comes back.
import { payCommand } from './pay/command.ts';

const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
process.exitCode = await payCommand(
  process.argv.slice(2),
  { out: (text) => console.log(text), err: (line) => console.error(line) },
  { signal: interrupted.signal },
);
