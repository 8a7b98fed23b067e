// `npm run verify`: the verdict on bundles and public proofs, with no network.
import { join } from 'node:path';
import { UsageError, usageLine } from '../node/config/command-line.ts';
import { nativeSuite } from '../node/keys/native-suite.ts';
import { verifyCommand } from './verify/command.ts';
import { UNREADABLE } from './verify/judge-file.ts';
import { plain } from './verify/report.ts';

const home = process.env.MERIDIAN_HOME || join(import.meta.dirname, '../.meridian');

try {
  process.exitCode = await verifyCommand(process.argv.slice(2), {
    out: (line) => console.log(line),
    note: (line) => console.error(line),
    home,
    now: Date.now,
    suite: nativeSuite,
    progress: process.stderr.isTTY ? process.stderr : null,
    program: 'npm run verify --',
  });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof UsageError ? usageLine(error, 'verify') : plain(message));
  process.exitCode = UNREADABLE;
}
