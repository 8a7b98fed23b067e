import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MarkedOutput } from './marked-output.ts';
import { PORT_SHARE_VARIABLE, type PortShare, portShareText } from './port-share.ts';
import { parseSkips, parseTotals } from './uvu-totals.ts';

/** Every file loads much the same modules: Node keeps what it compiled of them from one process to the next. */
const COMPILE_CACHE = join(tmpdir(), 'meridian-compile-cache');
const WORKER = join(import.meta.dirname, 'worker.ts');

export interface FileResult {
  path: string;
  passed: number;
  failed: number;
  skipped: number;
  skipReasons: string[];
  /** Why the file failed in words, or null when it passed. */
  failure: string | null;
  seconds: number;
  /** Of the file and of the processes that it waited for, user and system; null where it did not live to tell. */
  processorSeconds: number | null;
  output: string;
}

export interface RunOptions {
  /** Of every file, from its start; a file past it is killed and has failed. */
  readonly deadlineMs: number;
  /** Kills the file under way at once; none is begun after it. */
  readonly signal: AbortSignal;
  readonly ports: PortShare;
  readonly report: (result: FileResult) => void;
}

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  overdue: boolean;
}

/** Of a file behind which the process went on. */
const IN_ORDER: Ending = { code: 0, signal: null, overdue: false };
/** After a process has ended, how long output may still arrive through pipes that its orphans hold open. */
const OUTPUT_GRACE_MS = 500;

/**
 * Runs test files one after another in one process, and reports each. A file that fails, dies or hangs ends the
 * process, and another one runs the rest.
 */
export async function runTestFiles(paths: readonly string[], options: RunOptions): Promise<void> {
  let waiting = paths;
  while (waiting.length > 0 && !options.signal.aborted) {
    const ran = await runProcess(waiting, options);
    waiting = waiting.slice(ran);
  }
}

/**
 * Runs the files in a process group of its own, and kills the whole group at the end, so that nothing that a test
 * started outlives it. Returns how many it ran, at least one.
 */
async function runProcess(paths: readonly string[], options: RunOptions): Promise<number> {
  const { deadlineMs, signal, ports, report } = options;
  const mark = randomUUID();
  const child = spawn(process.execPath, [WORKER, mark, ...paths], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      [PORT_SHARE_VARIABLE]: portShareText(ports),
    },
  });
  const closed = once(child, 'close');
  let ran = 0;
  let began = performance.now();
  let last: { output: string; processorSeconds: number | null } = { output: '', processorSeconds: null };
  const finish = (ending: Ending, output: string, processorSeconds: number | null): void => {
    const seconds = (performance.now() - began) / 1000;
    began += seconds * 1000;
    report({ ...judge(paths[ran++] ?? '', output, ending, deadlineMs), seconds, processorSeconds });
  };
  let overdue = false;
  const deadline = setTimeout(() => {
    overdue = true;
    killGroup(child);
  }, deadlineMs);
  const written = new MarkedOutput(mark, [child.stdout, child.stderr], (output, text) => {
    const [place, seconds] = text.split(' ');
    if (place === 'next') {
      finish(IN_ORDER, output, Number(seconds));
      deadline.refresh();
    } else last = { output, processorSeconds: Number(seconds) };
  });
  const ending = await ended(child, signal);
  clearTimeout(deadline);
  await Promise.race([closed, delay(OUTPUT_GRACE_MS, undefined, { ref: false })]);
  finish({ ...ending, overdue }, last.output + written.close(), last.processorSeconds);
  return ran;
}

async function ended(child: ChildProcess, signal: AbortSignal): Promise<Omit<Ending, 'overdue'>> {
  const kill = (): void => killGroup(child);
  signal.addEventListener('abort', kill);
  if (signal.aborted) kill();
  try {
    const [code, killedBy] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return { code, signal: killedBy };
  } finally {
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

type Judgement = Omit<FileResult, 'seconds' | 'processorSeconds'>;

function judge(path: string, output: string, ending: Ending, deadlineMs: number): Judgement {
  const totals = parseTotals(output) ?? { total: 0, passed: 0, skipped: 0 };
  const skipReasons = parseSkips(output);
  const skipped = Math.max(totals.skipped, skipReasons.length);
  const failedTests = totals.total - totals.passed;
  const failure = failureOf(ending, deadlineMs, failedTests, totals.total + skipped);
  const failed = failure === null ? 0 : Math.max(1, failedTests);
  return { path, passed: totals.passed, failed, skipped, skipReasons, failure, output };
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
