import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';

/** Stands in a name for what a test file puts there while it runs. */
const HOLE = '…';

const TEXT = String.raw`(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`;
/** What a template becomes: `"text".concat(value, "text").concat(value)`. */
const NAME = String.raw`${TEXT}(?:\.concat\([^"'\n]*?(?:, ${TEXT})?\))*`;
/** Begins what a test runs. */
const RUN = String.raw`,\s+(?:async )?(?:\(.*\) =>|\w+ =>|\w+\);)`;
const SUITE = /^(?:const|let) (\w+) = suite\(/gm;
/** A function of the file that registers a test under its first argument. */
const REGISTRAR = /^function (\w+)\(name\b.*\{\n(?:  .*\n)*?  test\(\s*name,/gm;
const IMPORT = /^import \{[^}]*\btest\b[^}]*\} from "uvu";$/m;
/** `testWhere(…)("name", …)`, and `name: async (…) => …` of a table of tests. */
const CONDITIONAL = new RegExp(String.raw`^\s*testWhere\(.*\)\(\s*(${TEXT}),`, 'gm');
const TABLE = /^await \w+Tests\(\{$/m;
const ROW = new RegExp(String.raw`^  (${TEXT}): (?:async )?\(`, 'gm');

/**
 * The names of the tests that a test file registers, each once, `…` for what is put into them. Comments and texts name
 * none: what is read is the file without comments, with each text on one line.
 */
export async function registeredNames(file: string): Promise<Set<string>> {
  return namesIn(await readFile(file, 'utf8'));
}

/** The same of the source of a test file. */
export async function namesIn(source: string): Promise<Set<string>> {
  const { code } = await transform(source, {
    loader: 'ts',
    target: 'esnext',
    charset: 'utf8',
    legalComments: 'none',
    supported: { 'template-literal': false },
  });
  const found = matches(code, CONDITIONAL);
  const registers = [...(IMPORT.test(code) ? ['test'] : []), ...matches(code, SUITE)];
  for (const register of registers) found.push(...matches(code, callOf(register, RUN)));
  for (const registrar of matches(code, REGISTRAR)) found.push(...matches(code, callOf(registrar, ',')));
  if (TABLE.test(code)) found.push(...matches(code, ROW));
  return new Set(found.map(nameOf));
}

function callOf(register: string, behind: string): RegExp {
  return new RegExp(String.raw`^\s*(?:for \(.*\) )?${register}\(\s*(${NAME})${behind}`, 'gm');
}

function matches(code: string, pattern: RegExp): string[] {
  return [...code.matchAll(pattern)].map(([, group]) => group ?? '');
}

function nameOf(expression: string): string {
  const parts = expression.matchAll(new RegExp(String.raw`${TEXT}|\.concat\(`, 'g'));
  return [...parts].map(([part]) => (part.startsWith('.') ? HOLE : textOf(part))).join('');
}

/** What a text of JavaScript says: it has escapes that JSON has not, and may stand between other marks. */
function textOf(literal: string): string {
  const known = literal
    .slice(1, -1)
    .replaceAll(/\\x([0-9a-f]{2})|\\(.)|"/gi, (whole, code?: string, escaped?: string) => {
      if (code !== undefined) return String.raw`\u00${code}`;
      if (escaped === undefined) return String.raw`\"`;
      return /["\\/bfnrtu]/.test(escaped) ? whole : escaped;
    });
  const text: unknown = JSON.parse(`"${known}"`);
  return typeof text === 'string' ? text : '';
}
