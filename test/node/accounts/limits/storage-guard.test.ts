import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { StorageGuard, type StorageMeasurement, StoreSize } from '../../../../node/accounts/limits/storage-guard.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';

const MIB = 1 << 20;
const QUOTA = 1_000 * MIB;
const PLENTY = 100_000 * MIB;
const FREE_MIB = [1024, 1023, 256, 255, 300, 320, 1279, 1280];

interface Disk {
  usedMiB: number;
  freeMiB: number;
  fails: boolean;
}

/** A guard over a made-up disk; `now` looks again and tells the level. */
async function guardOver(disk: Disk, quotaBytes: number | null) {
  const lines: string[] = [];
  const measure = async (): Promise<StorageMeasurement> => {
    if (disk.fails) throw new Error('the disk does not answer');
    return { usedBytes: disk.usedMiB * MIB, freeBytes: disk.freeMiB * MIB };
  };
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const guard = await StorageGuard.start({ directory: '/nowhere', quotaBytes, log, intervalMs: 3_600_000, measure });
  const now = async (change: Partial<Disk>) => {
    Object.assign(disk, change);
    await guard.look();
    return guard.check();
  };
  return { guard, now, lines };
}

function emptyDisk(): Disk {
  return { usedMiB: 0, freeMiB: PLENTY / MIB, fails: false };
}

test('warns at 80 % of the quota, is full at 95 %, and changes back only well below', async () => {
  const { guard, now, lines } = await guardOver(emptyDisk(), QUOTA);
  await using _ = guard;
  const levels: string[] = [];
  for (const usedMiB of [0, 799, 800, 790, 781, 779, 949, 950, 940, 931, 929, 940, 779, 0]) {
    levels.push(`${usedMiB} ${await now({ usedMiB })}`);
  }
  assert.equal(levels, [
    '0 ok',
    '799 ok',
    '800 warn',
    '790 warn',
    '781 warn',
    '779 ok',
    '949 warn',
    '950 full',
    '940 full',
    '931 full',
    '929 warn',
    '940 warn',
    '779 ok',
    '0 ok',
  ]);
  assert.is(lines.length, 6, 'each change is logged once');
});

test('a nearly full disk is full whatever the quota', async () => {
  for (const quota of [null, QUOTA]) {
    const { guard, now } = await guardOver(emptyDisk(), quota);
    await using _ = guard;
    const levels: string[] = [];
    for (const freeMiB of FREE_MIB) levels.push(`${freeMiB} ${await now({ freeMiB })}`);
    assert.equal(levels, [
      '1024 ok',
      '1023 warn',
      '256 warn',
      '255 full',
      '300 full',
      '320 warn',
      '1279 warn',
      '1280 ok',
    ]);
  }
});

test('without a quota any size will do', async () => {
  const { guard, now } = await guardOver(emptyDisk(), null);
  await using _ = guard;
  assert.is(await now({ usedMiB: PLENTY }), 'ok');
});

test('only a full store refuses records, and says when to come back', async () => {
  const { guard, now } = await guardOver(emptyDisk(), QUOTA);
  await using _ = guard;
  await now({ usedMiB: 900 });
  guard.requireCapacity();
  await now({ usedMiB: 990 });
  try {
    guard.requireCapacity();
    assert.unreachable();
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    assert.is(error.code, 'storage-full');
    assert.equal(error.headers, { 'Retry-After': '60' });
  }
});

test('while the disk cannot be looked at, what was seen last holds', async () => {
  const { guard, now, lines } = await guardOver(emptyDisk(), QUOTA);
  await using _ = guard;
  await now({ usedMiB: 990 });
  assert.is(await now({ usedMiB: 0, fails: true }), 'full');
  assert.match(lines.at(-1) ?? '', /could not be measured/);
  assert.is(await now({ fails: false }), 'ok');
});

test('looks by itself at the folder and the disk it stands on, until it is disposed', async () => {
  await using directory = await temporaryDirectory();
  const looked: number[] = [];
  const measure = async (): Promise<StorageMeasurement> => {
    looked.push(performance.now());
    return { usedBytes: 0, freeBytes: PLENTY };
  };
  const options = { directory: directory.path, quotaBytes: 10_000, log: pino({ level: 'silent' }), intervalMs: 5 };
  {
    await using guard = await StorageGuard.start(options);
    assert.is(guard.check(), 'ok');
    assert.ok(guard.state.freeBytes > 0);
    await writeFile(join(directory.path, '000001.log'), Buffer.alloc(9_600));
    for (let i = 0; i < 400 && guard.check() !== 'full'; i++) await sleep(5);
    assert.is(guard.check(), 'full');
    assert.is(guard.state.usedBytes, 9_600);
  }
  await (await StorageGuard.start({ ...options, measure }))[Symbol.asyncDispose]();
  const count = looked.length;
  await sleep(30);
  assert.is(looked.length, count);
});

test('the size of a store follows its files: tables that are being written, logs that grow, files that go', async () => {
  await using directory = await temporaryDirectory();
  const file = (name: string) => join(directory.path, name);
  const size = new StoreSize(directory.path);
  assert.is(await size.measure(), 0);
  await writeFile(file('000005.ldb'), Buffer.alloc(100));
  await writeFile(file('000006.log'), Buffer.alloc(10));
  assert.is(await size.measure(), 110);
  await appendFile(file('000005.ldb'), Buffer.alloc(900));
  await appendFile(file('000006.log'), Buffer.alloc(5));
  assert.is(await size.measure(), 1015);
  assert.is(await size.measure(), 1015);
  await appendFile(file('000006.log'), Buffer.alloc(5));
  assert.is(await size.measure(), 1020);
  await rm(file('000005.ldb'));
  assert.is(await size.measure(), 20);
});

test.run();
