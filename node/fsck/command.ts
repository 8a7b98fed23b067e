import { parseArgs } from 'node:util';
import { PassphraseError, readPassphrase } from '../keys/passphrase.ts';
import { ProgressLine, type ProgressOutput } from './progress-line.ts';
import { fsck, FsckError, type FsckResult } from './fsck.ts';
import { MOST_THREADS } from './group-checks.ts';
import type { NoResumption } from './proven-ranges.ts';
import { type Finding, MAX_FINDINGS } from './report.ts';

/** 0 whole · 1 problems · 2 could not be checked. */
export type FsckExit = 0 | 1 | 2;

export type Output = ProgressOutput;

const USAGE = `usage: npm run fsck -- DIR [--resume] [--threads N] [--quiet] [--json] [--passphrase-file FILE]

  DIR          the home of a stopped node
  --resume     goes on where a check of the same store was interrupted
  --threads N  threads beside the first; default: as many as there are processors, up to ${MOST_THREADS}
  --quiet      shows no progress
`;
/** More would only take memory. */
const MOST_GIVEN_THREADS = 64;

const NOT_RESUMED: Readonly<Record<NoResumption, string>> = {
  absent: 'no check of it was interrupted',
  changed: 'the store has changed since',
  damaged: 'what was kept of it is damaged, or not of this home',
};

/** The `fsck` command: findings and a summary on `out`, or one JSON object; progress and refusals on `err`. */
export async function fsckCommand(
  args: readonly string[],
  out: Output,
  err: Output,
  signal?: AbortSignal,
): Promise<FsckExit> {
  if (args.includes('--help')) {
    out.write(USAGE);
    return 0;
  }
  const parsed = readArguments(args);
  if (parsed === null) {
    err.write('fsck takes one home, and the options that --help names\n');
    return 2;
  }
  const started = performance.now();
  const progress = parsed.quiet ? null : new ProgressLine(err, 'records');
  try {
    const passphrase = parsed.passphraseFile === null ? null : await readPassphrase(parsed.passphraseFile);
    const result = await fsck(parsed.home, {
      passphrase,
      onFinding: (finding) => {
        progress?.clear();
        if (!parsed.json && finding.severity !== 'note') out.write(`${lineOf(finding)}\n`);
      },
      onProgress: ({ records }, expected) => progress?.show(records, expected),
      threads: parsed.threads,
      remembering: {
        resumes: parsed.resumes,
        onResume: (refusal, records) => {
          const told =
            refusal === null
              ? `goes on: ${records} records are judged already`
              : `begins anew: ${NOT_RESUMED[refusal]}`;
          err.write(`fsck: ${told}\n`);
        },
      },
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
    err.write(`fsck: ${isRefused ? error.message : 'stopped before the end; --resume goes on from there'}\n`);
    return 2;
  }
}

interface Arguments {
  readonly home: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly resumes: boolean;
  readonly threads: number | undefined;
  readonly passphraseFile: string | null;
}

function readArguments(args: readonly string[]): Arguments | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        quiet: { type: 'boolean', default: false },
        resume: { type: 'boolean', default: false },
        threads: { type: 'string' },
        'passphrase-file': { type: 'string' },
      },
      allowPositionals: true,
    });
    const [home, ...rest] = positionals;
    if (home === undefined || home === '' || rest.length > 0) return null;
    const { json, quiet, resume: resumes } = values;
    const threads = values.threads === undefined ? undefined : Number(values.threads);
    if (threads !== undefined && !isCount(values.threads, threads)) return null;
    return { home, json, quiet, resumes, threads, passphraseFile: values['passphrase-file'] ?? null };
  } catch {
    return null;
  }
}

function isCount(text: string | undefined, count: number): boolean {
  return /^\d+$/.test(text ?? '') && count <= MOST_GIVEN_THREADS;
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
