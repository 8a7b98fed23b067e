import { parseArgs } from 'node:util';
import type { Counts, Finding } from './report.ts';
import { MAX_FINDINGS } from './report.ts';
import { PassphraseError, readPassphrase } from '../keys/passphrase.ts';
import { fsck, FsckError, type FsckResult } from './fsck.ts';

/** 0 whole · 1 problems · 2 could not be checked. */
export type FsckExit = 0 | 1 | 2;

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

const USAGE = 'usage: npm run fsck -- DIR [--json] [--passphrase-file FILE]   (DIR: the home of a stopped node)\n';
/** Between two lines of progress, in milliseconds. */
const PROGRESS_MS = 200;
const CLEAR_LINE = '\r\u001b[2K';

/** The `fsck` command: findings and a summary on `out`, or one JSON object; progress and refusals on `err`. */
export async function fsckCommand(
  args: readonly string[],
  out: Output,
  err: Output,
  signal?: AbortSignal,
): Promise<FsckExit> {
  const parsed = readArguments(args);
  if (parsed === null) {
    err.write(USAGE);
    return 2;
  }
  const started = performance.now();
  const progress = err.isTTY === true ? new Progress(err) : null;
  try {
    const passphrase = parsed.passphraseFile === null ? null : await readPassphrase(parsed.passphraseFile);
    const result = await fsck(parsed.home, {
      passphrase,
      onFinding: (finding) => {
        progress?.clear();
        if (!parsed.json && finding.severity !== 'note') out.write(`${lineOf(finding)}\n`);
      },
      onProgress: (counts) => progress?.show(counts),
      ...(signal === undefined ? {} : { signal }),
    });
    progress?.clear();
    const seconds = (performance.now() - started) / 1000;
    out.write(parsed.json ? `${JSON.stringify(asJson(parsed.home, result, seconds))}\n` : summaryOf(result, seconds));
    return result.report.found('problem') === 0 ? 0 : 1;
  } catch (error) {
    progress?.clear();
    const isRefused = error instanceof FsckError || error instanceof PassphraseError;
    if (!isRefused && signal?.aborted !== true) throw error;
    err.write(`fsck: ${isRefused ? error.message : 'stopped before the end'}\n`);
    return 2;
  }
}

interface Arguments {
  readonly home: string;
  readonly json: boolean;
  readonly passphraseFile: string | null;
}

function readArguments(args: readonly string[]): Arguments | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { json: { type: 'boolean', default: false }, 'passphrase-file': { type: 'string' } },
      allowPositionals: true,
    });
    const [home, ...rest] = positionals;
    if (home === undefined || home === '' || rest.length > 0) return null;
    return { home, json: values.json, passphraseFile: values['passphrase-file'] ?? null };
  } catch {
    return null;
  }
}

class Progress {
  readonly #err: Output;
  #shownAt = 0;

  constructor(err: Output) {
    this.#err = err;
  }

  show({ records, batches }: Counts): void {
    const now = performance.now();
    if (now - this.#shownAt < PROGRESS_MS) return;
    this.#shownAt = now;
    this.#err.write(`${CLEAR_LINE}${records} records, ${batches} batches`);
  }

  clear(): void {
    if (this.#shownAt > 0) this.#err.write(CLEAR_LINE);
  }
}

function lineOf({ severity, table, key, detail }: Finding): string {
  return `${severity}: ${key === null || key.startsWith(table) ? (key ?? table) : `${table} ${key}`}: ${detail}`;
}

function summaryOf({ node, federation, report }: FsckResult, seconds: number): string {
  const { counts } = report;
  const problems = report.found('problem');
  const found = problems + report.found('warning') + report.found('note');
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  const lines = [
    `node ${node ?? 'unknown'}, federation ${federation ?? 'unknown'}`,
    named.map(([name, count]) => `${name} ${count}`).join(', '),
    ...report.notChecked.map((what) => `not checked: ${what}`),
    ...(found > MAX_FINDINGS ? [`${found - MAX_FINDINGS} more findings are counted and not listed`] : []),
    `${problems === 0 ? 'whole' : `${problems} problems`}, in ${seconds.toFixed(1)} s`,
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function asJson(home: string, { node, federation, report }: FsckResult, seconds: number) {
  return {
    home,
    node,
    federation,
    whole: report.found('problem') === 0,
    problems: report.found('problem'),
    warnings: report.found('warning'),
    counts: report.counts,
    notChecked: report.notChecked,
    findings: report.findings,
    seconds,
  };
}
