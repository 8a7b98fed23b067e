// The process that runs test files for the runner, one after another: the first argument is the mark that it writes on
// a line of its own behind the output of each, the others are the files. The next one begins when nothing of the last
// keeps the process alive any more, as if it had ended. After a file that failed, or ran no test, it ends: the runner
// starts another for the rest.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const TICKS_PER_SECOND = 100;
const UNSETTLED = 13;

declare global {
  var UVU_QUEUE: unknown[][];
}

const [, , mark = '', ...files] = process.argv;
let isLoaded = true;
let spentBefore = spentSeconds();

process.on('beforeExit', () => {
  if (!isLoaded) process.exit(UNSETTLED);
  // Left undefined by a file that runs no test, or stops waiting for something that never comes.
  if (process.exitCode !== 0 || files.length === 0) return;
  writeMark('next');
  runNext();
});
process.on('exit', () => writeMark('last'));
runNext();

/** Begins with the next file. What it throws ends the process, as it ends one of its own. */
function runNext(): void {
  const [file] = files.splice(0, 1);
  if (file === undefined) return;
  process.argv = [process.execPath, file];
  process.exitCode = undefined;
  // uvu runs what is queued, and does not take out what it has run.
  globalThis.UVU_QUEUE = [[null]];
  isLoaded = false;
  void import(pathToFileURL(file).href).then(() => (isLoaded = true));
}

/**
 * Ends what the file has written on both streams: whether another one follows, and the processor seconds that it took.
 */
function writeMark(place: 'next' | 'last'): void {
  const spent = spentSeconds();
  const line = `\n${mark} ${place} ${(spent - spentBefore).toFixed(2)}\n`;
  spentBefore = spent;
  process.stdout.write(line);
  process.stderr.write(line);
}

/** Of this process, and where the system tells it also of those that it has waited for. */
function spentSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

function childrenSeconds(): number {
  try {
    // proc(5): the name, which may hold spaces, ends with the last parenthesis; `cutime` and `cstime` are 14 fields on.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(')').at(-1)?.trim().split(' ') ?? [];
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}
