import { writeFile } from 'node:fs/promises';
import { cachingSuite } from '../../node/keys/caching-suite.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { ExitCode } from '../../protocol/verdict/word.ts';
import { readArguments, usage } from './arguments.ts';
import { htmlReport, type ReportedFile } from './html-report.ts';
import { accusationLines, accusationOf } from './accusation.ts';
import { exitCodeOf, jsonLineOf, judgeFile, type Judgement, UNREADABLE, wordOf } from './judge-file.ts';
import { readKnowledge } from './knowledge.ts';
import { packHeadline, packProblemLines, packReport } from './pack-file.ts';
import { headlineOf, plain, problemLines, reportOf } from './report.ts';
import { areSeveral, filesOf } from './targets.ts';

/** From the worst on: what several files come to is the first that one of them has. */
const WORST_FIRST = [UNREADABLE, 1, 5, 4, 3, 0] as const;

/** Where the command writes, a line at a time, and what it is told by its surroundings. */
export interface Surroundings {
  readonly out: (line: string) => void;
  /** What is no part of the answer, a line at a time. */
  readonly note: (line: string) => void;
  /**
   * Folder of the local cluster whose `roster.json` is the pin where no other is given; null where only what is given
   * pins. Never the folder that the files come from: it would pin itself.
   */
  readonly home: string | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** What signatures are checked by. */
  readonly suite: Suite;
  /** Where the progress of a pack is drawn; null where nobody looks. */
  readonly progress: NodeJS.WriteStream | null;
  /** How this command is called, as its help says it. */
  readonly program: string;
}

/**
 * `npm run verify`. Resolves to the exit code. Files are read and judged one after another, with one memory of the
 * signatures that held. Throws `UsageError` and `UnreadableFileError`, which are exit 2.
 */
export async function verifyCommand(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { out, note, home, now, program, progress } = surroundings;
  const given = readArguments(args);
  if (given === 'help') {
    out(usage(program, home));
    return 0;
  }
  const suite = cachingSuite(surroundings.suite);
  const { known, pinnedBy } = await readKnowledge(suite, given, home);
  if (given.roster === null && pinnedBy !== null) note(`no --roster is given: pinned by ${plain(pinnedBy)}`);
  const several = await areSeveral(given.targets);
  const tally = new Map<string, number>();
  const codes = new Set<ExitCode | typeof UNREADABLE>();
  const reported: ReportedFile[] = [];
  for await (const target of filesOf(given.targets)) {
    const judgement = await judgeFile(suite, target, { ...known, at: timestampOf(now()) }, progress);
    const word = wordOf(judgement);
    tally.set(word, (tally.get(word) ?? 0) + 1);
    codes.add(exitCodeOf(judgement));
    const full = fullReport(suite, judgement, pinnedBy);
    if (given.html !== null) reported.push({ file: judgement.file, exitCode: exitCodeOf(judgement), lines: full });
    if (given.json) out(jsonLineOf(judgement));
    else for (const line of several ? shortReport(judgement) : full) out(line);
  }
  const exitCode = WORST_FIRST.find((code) => codes.has(code)) ?? UNREADABLE;
  if (several && !given.json) out(summaryOf(tally));
  if (given.html !== null) await writeFile(given.html, htmlReport(reported, several ? summaryOf(tally) : null));
  return exitCode;
}

/** Of one file alone: the verdict first, and again at the end. */
function fullReport(suite: Suite, judgement: Judgement, pinnedBy: string | null): readonly string[] {
  if ('fault' in judgement) return shortReport(judgement);
  if ('accusation' in judgement) return accusationLines(judgement.accusation, pinnedBy);
  if ('pack' in judgement) return packReport(judgement.pack, pinnedBy);
  return reportOf(suite, judgement.bundle, judgement.verdict, pinnedBy);
}

/** Of one file among several: its path, its word, and what speaks against it. */
function shortReport(judgement: Judgement): readonly string[] {
  const path = plain(judgement.file);
  if ('fault' in judgement) return [`${path}: UNREADABLE: ${plain(judgement.fault)}`];
  if ('accusation' in judgement) return [`${path}: ${accusationOf(judgement.accusation)}`];
  if ('pack' in judgement) {
    return [`${path}: ${packHeadline(judgement.pack)}`, ...packProblemLines(judgement.pack, '  ')];
  }
  const { verdict } = judgement;
  return [`${path}: ${headlineOf(verdict)}`, ...problemLines(verdict.problems, '  ')];
}

function summaryOf(tally: ReadonlyMap<string, number>): string {
  const total = [...tally.values()].reduce((sum, count) => sum + count, 0);
  const counts = [...tally].map(([word, count]) => `${count} ${word}`);
  const all = tally.get('verified') === total ? 'VERIFIED' : 'NOT ALL VERIFIED';
  return `${all}: ${total} files: ${counts.join(', ')}`;
}
