import { closeSync, openSync, readdirSync, readSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Accounts } from '../../../node/accounts/accounts.ts';
import { fsck } from '../../../node/fsck/fsck.ts';
import { Store } from '../../../node/store/store.ts';
import { fc } from '../../fixtures/properties.ts';
import { problemsOf } from './damaged-home.ts';
import { EU, scratchDirectory, writeHome } from './home.ts';

/** Text for people and an empty lock file: they hold no data. */
const NO_DATA = new Set(['LOG', 'LOG.old', 'LOCK']);
const RUNS = 60;
const MOST_MS = 20_000;

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');

test.before(async () => {
  await writeHome(home, 2);
  // Opening folds the log into a table; one more write leaves something in the log as well.
  await using store = await Store.open(join(home, 'store'));
  const accounts = await Accounts.open({ store, node: EU, now: Date.now });
  await accounts.grant({ id: 'acc_eu_late', tier: 'standard' }, 'c'.repeat(32));
});
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

async function dataFiles(): Promise<readonly string[]> {
  const unused = (await fsck(home)).report.findings.filter(({ severity }) => severity === 'note').map(({ key }) => key);
  const names = readdirSync(join(home, 'store')).filter((name) => !NO_DATA.has(name) && !unused.includes(name));
  return [
    ...names.map((name) => join(home, 'store', name)),
    ...readdirSync(join(home, 'keys')).map((name) => join(home, 'keys', name)),
  ];
}

async function withFlip(path: string, offset: number, bit: number, then: () => Promise<void>): Promise<void> {
  const file = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, offset);
  writeSync(file, Buffer.of(byte.readUInt8(0) ^ (1 << bit)), 0, 1, offset);
  try {
    await then();
  } finally {
    writeSync(file, byte, 0, 1, offset);
    closeSync(file);
  }
}

test('the home is whole, with rows in tables and in the log', async () => {
  assert.equal(problemsOf(await fsck(home)), []);
  const names = (await dataFiles()).map((path) => path.replace(/^.*\//, ''));
  assert.ok(
    names.some((name) => name.endsWith('.ldb')) && names.some((name) => name.endsWith('.log')),
    names.join(' '),
  );
});

test('a flipped bit anywhere in a file of the store or the keys is found', async () => {
  const files = await dataFiles();
  // Small files as often as large ones: a manifest or a key matters no less.
  const place = fc.record({
    file: fc.constantFrom(...files),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    bit: fc.nat(7),
  });
  let flipping: Promise<void> = Promise.resolve();
  const property = fc.asyncProperty(place, async ({ file, at, bit }) => {
    const offset = Math.floor(at * statSync(file).size);
    flipping = withFlip(file, offset, bit, async () => {
      assert.ok(problemsOf(await fsck(home)).length > 0, `bit ${bit} of byte ${offset} of ${file} escaped`);
    });
    await flipping;
  });
  await fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: MOST_MS, endOnFailure: true });
  // The time limit leaves the last one under way.
  await flipping;
});

test('and once every bit is back, the home is whole again', async () => {
  assert.equal(problemsOf(await fsck(home)), []);
});

test.run();
