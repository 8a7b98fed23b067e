import { readFile } from 'node:fs/promises';
import { transform } from 'esbuild';

/** Stands in a name for what a test file puts there while it runs. */
export const HOLE = '…';

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const SUITE = /^(?:const|let) (\w+) = suite\(/gm;
/** A function of the file that registers a test under its first argument. */
const REGISTRAR = /^function (\w+)\(name\b.*\{\n(?:  .*\n)*?  test\(name,/gm;
const IMPORT = /^import \{[^}]*\btest\b[^}]*\} from "uvu";$/m;
/** `testWhere(…)("name", …)`, and `name: async (…) => …` of a table of tests. */
const CONDITIONAL = new RegExp(String.raw`^\s*testWhere\(.*\)\((${TEXT}),`, 'gm');
const TABLE = /^await \w+Tests\(\{$/m;
const ROW = new RegExp(String.raw`^  (${TEXT}): (?:async )?\(`, 'gm');

/**
 * The names of the tests that a test file registers, each once, `…` for what is put into them. Comments and texts name
 * none: what is read is the file without comments, with each statement and each text on one line.
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
  const registers = [...(IMPORT.test(code) ? ['test'] : []), ...matches(code, SUITE), ...matches(code, REGISTRAR)];
  for (const register of registers) {
    const call = new RegExp(String.raw`^\s*(?:for \(.*\) )?${register}\((${TEXT}(?:\.concat\([^"\n]*?(?:, ${TEXT})?\))*),`, 'gm');
    found.push(...matches(code, call));
  }
  if (TABLE.test(code)) found.push(...matches(code, ROW));
  return new Set(found.map(nameOf));
}

function matches(code: string, pattern: RegExp): string[] {
  return [...code.matchAll(pattern)].map(([, group]) => group ?? '');
}

/** Of `"text"`, or of what a template became: `"text".concat(value, "text").concat(value)`. */
function nameOf(expression: string): string {
  const texts = new RegExp(TEXT, 'g');
  const parts = expression.replace(/\.concat\([^"\n]*?(?=, "|\))/g, `"${HOLE}"`).matchAll(texts);
  return [...parts].map(([part]) => textOf(part)).join('');
}

/** What esbuild wrote with the escapes of JavaScript, of which JSON knows fewer. */
function textOf(literal: string): string {
  const known = literal.replace(/\\x([0-9a-f]{2})/gi, String.raw`\u00$1`).replace(/\\([^"\\/bfnrtu])/g, '$1');
  const text: unknown = JSON.parse(known);
  return typeof text === 'string' ? text : '';
}
