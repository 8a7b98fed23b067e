import { stripVTControlCharacters } from 'node:util';

export interface Totals {
  total: number;
  passed: number;
  skipped: number;
}

const SUMMARY = /^ {2}Total: +(\d+)\n {2}Passed: +(\d+)\n {2}Skipped: +(\d+)$/gm;
/**
 * What uvu itself writes: marks of tests, which what a test prints may follow on the line, names of suites, the
 * summary.
 */
const MARKS = /^[•✘ ]+(?=[^•✘ ])/;
const FRAME = /^[•✘ ]*$|\(\d+ \/ \d+\)$|^ {2}(Total|Passed|Skipped|Duration):/;
const SKIP_LINE = /^SKIP: *(.*)$/gm;

/**
 * The totals that uvu prints when a file has run to its end, or null where it printed none (the file crashed, or never
 * called `test.run()`). The last summary counts: a test may itself have printed the output of another run.
 */
export function parseTotals(output: string): Totals | null {
  const summary = [...plain(output).matchAll(SUMMARY)].at(-1);
  if (summary === undefined) {
    return null;
  }
  return { total: Number(summary[1]), passed: Number(summary[2]), skipped: Number(summary[3]) };
}

/** The reasons that a file gave for not testing something, one for each line `SKIP: reason` that it printed. */
export function parseSkips(output: string): string[] {
  return [...plain(output).matchAll(SKIP_LINE)].map((line) => line[1] || '(no reason given)');
}

/** What the tests of a file printed themselves: the figures that they measured. */
export function parseFigures(output: string): string[] {
  return plain(output)
    .split('\n')
    .filter((line) => !FRAME.test(line))
    .map((line) => line.replace(MARKS, ''))
    .filter((line) => !line.startsWith('SKIP:'));
}

function plain(output: string): string {
  return stripVTControlCharacters(output).replaceAll('\r\n', '\n');
}
