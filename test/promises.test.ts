import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { namesIn, registeredNames } from './registered-names.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = 'test/PROMISES.md';
const FILE_OR_NAME = /`(test\/[^`]+)`|“([^”]+)”/g;
const FEWEST_ROWS = 100;

const page = await readFile(join(ROOT, PAGE), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| threat'));
const named = rows.map((row) => ({ row, tests: testsOf(row) }));

test('every promise names tests, by file and by name', () => {
  assert.ok(rows.length > FEWEST_ROWS, `${rows.length} rows`);
  for (const { row, tests } of named) {
    assert.ok(tests.length > 0, row);
    for (const { file, names } of tests) assert.ok(names.length > 0, `${file}: no name in ${row}`);
  }
});

test('every test that a promise names is registered by its file', async () => {
  const missing: string[] = [];
  const registered = new Map<string, ReadonlySet<string>>();
  for (const { file, names } of named.flatMap(({ tests }) => tests)) {
    if (!file.endsWith('.test.ts') || !existsSync(join(ROOT, file))) {
      missing.push(file);
      continue;
    }
    const there = registered.get(file) ?? (await registeredNames(join(ROOT, file)));
    registered.set(file, there);
    missing.push(...names.filter((name) => !there.has(name)).map((name) => `${file}: ${name}`));
  }
  assert.equal(missing, []);
});

test('every command and file that the page names is there', async () => {
  const files = [...page.matchAll(/`(test\/[^`*]+)`/g)].map(([, path]) => path ?? '');
  assert.equal(
    files.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    await readFile(join(ROOT, 'package.json'), 'utf8'),
  );
  const commands = [...page.matchAll(/`npm run ([a-z-:]+)/g)].map(([, name]) => name ?? '');
  assert.equal(
    commands.filter((name) => scripts[name] === undefined),
    [],
  );
});

test('a name counts where its test is registered, and nowhere else', async () => {
  const source = `
    import { suite, test } from 'uvu';
    const of = suite('a suite');
    // test('in a comment', () => {});
    /*
    test('in a longer comment', () => {});
    */
    const text = \`
test('in a text', () => {});
\`;
    test('plain', () => {});
    test.skip('skipped', () => {});
    of('of a suite, with “marks” and "more"', async () => {});
    other('of something else', () => {});
    for (const [n, word] of cases) test(\`case \${n}: \${word(n)} of all\`, () => {});
    testWhere(isThere, 'why')('where it can be looked at', () => {});
  `;
  assert.equal(
    [...(await namesIn(source))].toSorted(),
    ['case …: … of all', 'of a suite, with “marks” and "more"', 'plain', 'where it can be looked at'].toSorted(),
  );
  const elsewhere = source.replace("from 'uvu'", "from './my-own.ts'");
  assert.not((await namesIn(elsewhere)).has('plain'));
});

/** The files of the third column, each with the names that follow it. */
function testsOf(row: string): { readonly file: string; readonly names: string[] }[] {
  const tests: { readonly file: string; readonly names: string[] }[] = [];
  for (const [, file, name] of (row.split(' | ')[2] ?? '').matchAll(FILE_OR_NAME)) {
    if (file !== undefined) tests.push({ file, names: [] });
    if (name !== undefined) tests.at(-1)?.names.push(name);
  }
  return tests;
}

test.run();
