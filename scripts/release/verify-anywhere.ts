// The command of `npm run verify` in one file: on any Node from 20 on, with nothing installed and no network.
import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { verifyCommand } from '../verify/command.ts';
import { UNREADABLE } from '../verify/judge-file.ts';
import { plain } from '../verify/report.ts';

try {
  process.exitCode = await verifyCommand(process.argv.slice(2), {
    out: (line) => console.log(line),
    note: (line) => console.error(line),
    home: null,
    now: Date.now,
    suite: nobleSuite,
    progress: process.stderr.isTTY ? process.stderr : null,
    program: 'node meridian-verify.mjs',
  });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof UsageError ? usageLine(error, 'verify') : plain(message));
  process.exitCode = UNREADABLE;
}
