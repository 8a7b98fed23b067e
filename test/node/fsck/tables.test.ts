import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHECKED_TABLES } from '../../../node/fsck/tables.ts';

const SOURCE = join(import.meta.dirname, '../../../node');
const TABLE = /(?:new Table|jsonTable)(?:<[^(]*>)?\(\s*'([^']+)'/g;

/** A table that is read another way has the name of the first; `jsonTable` constructs one of its caller's name. */
const CONSTRUCTED = /new Table(?!\((?:this\.)?name)|(?<!function )\bjsonTable(?=[(<])/g;

/** A migration names tables of the format before. */
const OF_NO_NODE = /^fsck\/migration\//;

function sourceFiles(): string[] {
  return globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !OF_NO_NODE.test(file));
}

function declaredTables(): string[] {
  const files = sourceFiles();
  return files.flatMap((file) =>
    [...readFileSync(join(SOURCE, file), 'utf8').matchAll(TABLE)].map(([, name = '']) => name),
  );
}

test('every table that the node declares has a check, and every check a table', () => {
  assert.equal([...CHECKED_TABLES].sort(), declaredTables().sort());
});

test('no other spelling of a table escapes the test above', () => {
  const sources = sourceFiles().map((file) => readFileSync(join(SOURCE, file), 'utf8'));
  const constructed = sources.reduce((sum, source) => sum + [...source.matchAll(CONSTRUCTED)].length, 0);
  assert.is(constructed, declaredTables().length);
});

test.run();
