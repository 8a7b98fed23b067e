import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = join(import.meta.dirname, '..');
const PAGE = 'test/PROMISES.md';

test('every test and command that the page of promises names is there', async () => {
  const page = await readFile(join(ROOT, PAGE), 'utf8');
  const files = [...page.matchAll(/`(test\/[^`*]+)`/g)].map(([, path]) => path ?? '');
  assert.ok(files.length > 30);
  assert.equal(
    files.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    await readFile(join(ROOT, 'package.json'), 'utf8'),
  );
  const commands = [...page.matchAll(/`npm run ([a-z-]+)/g)].map(([, name]) => name ?? '');
  assert.equal(
    commands.filter((name) => scripts[name] === undefined),
    [],
  );
});

test('every line that names a threat names a test', async () => {
  const page = await readFile(join(ROOT, PAGE), 'utf8');
  const lines = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| threat'));
  for (const line of lines) assert.match(line.split('|')[3] ?? '', /`test\/[^`]+`/, line);
});

test.run();
