import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck, type FsckOptions } from '../../../node/fsck/fsck.ts';
import { type NoResumption, STATE_FILE } from '../../../node/fsck/proven-ranges.ts';
import { payloadKeyTable } from '../../../node/records/payload/payload-keys.ts';
import { Store } from '../../../node/store/store.ts';
import { type Mutation, problemsOf, StoredRows } from './damaged-home.ts';
import { scratchDirectory, writeHome } from './home.ts';
import { drop, flip, swap } from './mutations.ts';

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');
const damaged = join(scratch.path, 'damaged');

/** Damage of every kind that a thread looks for, in both chains. */
const MUTATIONS: readonly Mutation[] = [
  flip('payload/', 1, 200),
  flip(`${payloadKeyTable.name}/`, 1, 5),
  flip('body/eu/', 2, 300),
  flip('body/us/', 1, 300),
  drop('body/eu/', 6),
  swap('group/us/', 1, 2),
];

test.before(async () => {
  await writeHome(home, 2);
  await cp(home, damaged, { recursive: true });
  await using store = await Store.open(join(damaged, 'store'));
  for (const mutation of MUTATIONS) await store.write(await mutation(new StoredRows(store)));
});
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

async function told(of: string, options: FsckOptions) {
  const { report } = await fsck(of, options);
  const { findings, notChecked, counts } = report;
  return { findings, notChecked, counts, problems: report.found('problem') };
}

/** Stops a check after its first range, or later; resolves once it has stopped. */
async function interrupt(of: string, ranges = 1): Promise<void> {
  const stop = new AbortController();
  let seen = 0;
  const onProgress = (): void => {
    if (++seen >= ranges) stop.abort(new Error('interrupted'));
  };
  await fsck(of, { signal: stop.signal, onProgress, remembering: { resumes: false } }).then(
    () => assert.unreachable('it came to its end'),
    (error: unknown) => assert.match(String(error), 'interrupted'),
  );
}

async function resumed(of: string): Promise<{ refusal: NoResumption | null; records: number; told: object }> {
  let how: { refusal: NoResumption | null; records: number } = { refusal: 'absent', records: 0 };
  const onResume = (refusal: NoResumption | null, records: number): void => void (how = { refusal, records });
  return { told: await told(of, { remembering: { resumes: true, onResume } }), ...how };
}

test('threads find what is found in place, in the same order', async () => {
  for (const each of [home, damaged]) {
    const inPlace = await told(each, { threads: 0 });
    assert.equal(await told(each, { threads: 2 }), inPlace);
    assert.is(inPlace.problems > 0, each === damaged);
  }
});

test('an interrupted check goes on, tells the whole, and leaves nothing', async () => {
  const whole = await told(home, {});
  await interrupt(home);
  const { refusal, records, told: found } = await resumed(home);
  assert.is(refusal, null);
  assert.ok(records > 0);
  assert.equal(found, whole);
  assert.not(existsSync(join(home, STATE_FILE)));
  assert.is((await resumed(home)).refusal, 'absent');
});

test('ranges with findings are judged again', async () => {
  const whole = await told(damaged, {});
  await interrupt(damaged, 2);
  assert.equal((await resumed(damaged)).told, whole);
});

test('a store that changed is checked from the start, and its damage found', async () => {
  const copy = join(scratch.path, 'changed');
  await cp(home, copy, { recursive: true });
  await interrupt(copy);
  {
    await using store = await Store.open(join(copy, 'store'));
    await store.write(await flip('payload/', 0, 200)(new StoredRows(store)));
  }
  const { refusal } = await resumed(copy);
  assert.is(refusal, 'changed');
  assert.ok(problemsOf(await fsck(copy)).length > 0);
});

test('what was kept and then changed, or comes from another home, is not believed', async () => {
  await interrupt(home);
  const path = join(home, STATE_FILE);
  const kept = readFileSync(path, 'utf8');
  for (const other of [kept.replace('next', 'NEXT'), kept.replace(/\d(?=\}\])/, '9'), kept.slice(0, -9), '{}', '']) {
    writeFileSync(path, other);
    assert.is((await resumed(home)).refusal, 'damaged', other);
  }
  writeFileSync(join(damaged, STATE_FILE), kept);
  assert.is((await resumed(damaged)).refusal, 'changed');
});

test.run();
