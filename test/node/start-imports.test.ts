import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'node/main.ts');
const RUN = join(ROOT, 'node/run.ts');
/** Imports and re-exports of values; those of types alone load nothing. */
const FROM = /^(?:import|export) (?!type\b)(?:[^;']*? from )?'([^']+)';$/gm;
/** All that is loaded before a node listens. What else it needs comes later, by `import()`. */
const LOADED = [
  '@koa/router',
  '@noble/hashes/sha3.js',
  'csv-parse',
  'koa',
  'level',
  'lru-cache',
  'pino',
  'prom-client',
  'saxes',
  'sodium-native',
  'typebox',
  'typebox/schema',
  'uint8arraylist',
];

interface Imports {
  readonly files: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
}

/** What importing a file loads: files of this repository, and what they name of packages. */
function importsOf(entry: string): Imports {
  const files = new Set([entry]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(FROM)) {
      if (name.startsWith('.')) files.add(join(dirname(file), name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return { files, packages };
}

const { files, packages } = importsOf(RUN);

test('what finds the compiled form of a node loads no package', () => {
  const { files: first, packages: none } = importsOf(MAIN);
  assert.equal([...none], []);
  assert.ok(first.size < 10, `${first.size} files`);
});

test('a node loads these packages before it listens, and no others', () => {
  assert.equal([...packages].toSorted(), LOADED);
});

test('what talks to members, is paid, or runs in another process or thread comes later', () => {
  const names = [...files].map((file) => relative(ROOT, file));
  assert.ok(names.includes('node/transport/transport.ts'));
  for (const late of [
    'node/transport/libp2p-node.ts',
    'node/transport/gossip.ts',
    'node/payments/facilitator/payment-backend.ts',
    'node/services/inference/embedded/llama-model.ts',
    'node/services/regulatory-feed/feed-entries.ts',
  ]) {
    assert.not.ok(names.includes(late), late);
  }
});

test('nothing of a node but the client of the ledger names the ledger SDK', () => {
  for (const file of files) {
    if (file.endsWith('hedera-sdk.ts')) continue;
    assert.not.match(readFileSync(file, 'utf8'), "'@hashgraph/sdk'", file);
  }
});

test.run();
