import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseSkips, parseTotals } from './uvu-totals.ts';

/** Every file loads much the same modules: Node keeps what it compiled of them from one to the next. */
const COMPILE_CACHE = join(tmpdir(), 'meridian-compile-cache');

export interface FileResult {
  path: string;
  passed: number;
  failed: number;
  skipped: number;
  skipReasons: string[];
  /** Why the file failed in words, or null when it passed. */
  failure: string | null;
  seconds: number;
  output: string;
}

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  overdue: boolean;
}

/** After the file's process has ended, how long output may still arrive through pipes that its orphans hold open. */
const OUTPUT_GRACE_MS = 500;
/** A file that prints more than this loses the middle of its output, never its end. */
const OUTPUT_LIMIT_BYTES = 8 * 1024 * 1024;

/**
 * Runs one test file as its own `node` process in its own process group, and kills the whole group at the end, so that
 * nothing that a test started outlives it. `deadlineMs` counts from the start; a file past it is killed and has failed.
 * Aborting the signal kills the group at once.
 */
export async function runTestFile(path: string, deadlineMs: number, signal: AbortSignal): Promise<FileResult> {
  const start = performance.now();
  const child = spawn(process.execPath, [path], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  const output = collectOutput(child);
  const closed = once(child, 'close');
  const ending = await ended(child, deadlineMs, signal);
  await Promise.race([closed, delay(OUTPUT_GRACE_MS, undefined, { ref: false })]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  return judge(path, output(), ending, deadlineMs, (performance.now() - start) / 1000);
}

function collectOutput(child: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let dropped = 0;
  const keep = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes > OUTPUT_LIMIT_BYTES && chunks.length > 2) {
      const [lost] = chunks.splice(1, 1);
      bytes -= lost?.length ?? 0;
      dropped += lost?.length ?? 0;
    }
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return () => Buffer.concat(chunks).toString('utf8') + (dropped > 0 ? `\n(${dropped} bytes of output dropped)\n` : '');
}

async function ended(child: ChildProcess, deadlineMs: number, signal: AbortSignal): Promise<Ending> {
  let overdue = false;
  const kill = (): void => killGroup(child);
  const timer = setTimeout(() => {
    overdue = true;
    kill();
  }, deadlineMs);
  signal.addEventListener('abort', kill);
  if (signal.aborted) {
    kill();
  }
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return { code, signal: killedBy, overdue };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/** The group outlives its leader while any member lives, so its id cannot have been given to a stranger. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) {
    return;
  }
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}

function judge(path: string, output: string, ending: Ending, deadlineMs: number, seconds: number): FileResult {
  const totals = parseTotals(output) ?? { total: 0, passed: 0, skipped: 0 };
  const skipReasons = parseSkips(output);
  const skipped = Math.max(totals.skipped, skipReasons.length);
  const failedTests = totals.total - totals.passed;
  const failure = failureOf(ending, deadlineMs, failedTests, totals.total + skipped);
  const failed = failure === null ? 0 : Math.max(1, failedTests);
  return { path, passed: totals.passed, failed, skipped, skipReasons, failure, seconds, output };
}

function failureOf(ending: Ending, deadlineMs: number, failedTests: number, accountedFor: number): string | null {
  if (ending.overdue) {
    return `killed after ${deadlineMs / 1000} s`;
  }
  if (failedTests > 0) {
    return `${failedTests} failed`;
  }
  if (ending.code !== 0) {
    return ending.signal === null ? `exit code ${ending.code}` : `ended by ${ending.signal}`;
  }
  return accountedFor === 0 ? 'no test ran' : null;
}
