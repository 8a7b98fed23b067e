import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { REGIME_PERIODS } from '../../protocol/compliance/regime-clocks.ts';
import { catalogue } from '../../protocol/frameworks/catalogue.ts';
import { pageWithParts } from '../../scripts/frameworks/pages.ts';
import { rowsDue } from '../../scripts/frameworks/recheck.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';

const ROOT = join(import.meta.dirname, '../..');
const DAY_MS = 86_400_000;
const CHECKED = Date.parse('2026-11-22');

function frameworks(...args: readonly string[]) {
  return spawnSync(process.execPath, [join(ROOT, 'scripts/frameworks.ts'), ...args], {
    cwd: ROOT,
    env: CHILD_ENVIRONMENT,
    encoding: 'utf8',
  });
}

test('rows that no primary text backs are due at once, the others once they are old', () => {
  const rows = rowsDue(catalogue, 90, CHECKED);
  assert.ok(rows.length > 0);
  assert.ok(rows.every(({ mark }) => mark !== 'V'));
  const all = catalogue.frameworks.flatMap(({ clauses }) => clauses).length;
  assert.is(rowsDue(catalogue, 90, CHECKED + 91 * DAY_MS).length, all);
});

test('the least sure comes first, and the oldest before all', () => {
  const rows = rowsDue(catalogue, 90, CHECKED);
  const places = rows.map(({ checkedAt, mark }) => `${checkedAt} ${mark}`);
  assert.equal(places, places.toSorted());
});

test('the command lists them, as lines or as JSON', () => {
  const { status, stdout } = frameworks('recheck');
  assert.is(status, 0);
  assert.match(stdout, /K {2}\w+ .*: never looked up/);
  const { rows } = JSON.parse(frameworks('recheck', '--json', '--days', '100000').stdout);
  assert.ok(rows.length > 0);
  for (const { mark } of rows) assert.is.not(mark, 'V');
});

const PAGES = join(ROOT, 'docs/regimes');
const pages = readdirSync(PAGES).map((name) => ({ name, text: readFileSync(join(PAGES, name), 'utf8') }));
const namesIn = (part: string) =>
  pages.flatMap(({ text }) =>
    [...text.matchAll(new RegExp(`<!-- ${part}: (.*) -->`, 'g'))].flatMap(([, names = '']) => names.split(', ')),
  );

test('the pages of regimes have the rows and clocks of the catalogue, as npm run frameworks -- pages makes them', () => {
  for (const { name, text } of pages) assert.ok(pageWithParts(text, catalogue) === text, name);
});

test('each framework and each regime with a clock is on one page, and the first page leads to all', () => {
  assert.equal(namesIn('rows').sort(), catalogue.frameworks.map(({ id }) => id).sort());
  assert.equal(namesIn('clocks').sort(), [...new Set(REGIME_PERIODS.map(({ regime }) => regime))].sort());
  const first = pages.find(({ name }) => name === 'README.md')?.text ?? '';
  for (const { name } of pages) if (name !== 'README.md') assert.ok(first.includes(`(${name})`), name);
});

test('each page says what the project does not do', () => {
  for (const { name, text } of pages) if (name !== 'README.md') assert.match(text, /^## What we do not do$/m, name);
});

test('a command line that says something else ends with 2 and one line', () => {
  for (const args of [[], ['check'], ['recheck', '--days', 'x'], ['recheck', 'more']]) {
    const { status, stderr } = frameworks(...args);
    assert.is(status, 2, args.join(' '));
    assert.match(stderr, /^[^\n]+\n$/);
  }
});

test.run();
