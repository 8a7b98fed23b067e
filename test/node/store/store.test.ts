import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Operation, Store } from '../../../node/store/store.ts';
import { WriteLane } from '../../../node/store/write-lane.ts';

const LIMIT_KIB = 2048;
const WRITER = join(import.meta.dirname, 'limited-writer.ts');

const ReportShape = Type.Object({
  acknowledged: Type.Array(Type.String()),
  refusal: Type.String(),
  whileFailing: Type.Object({ failing: Type.Boolean(), last: Type.String() }),
  together: Type.Array(Type.String()),
  failing: Type.Boolean(),
});
const compiled = Compile(ReportShape);

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'store-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function put(key: string, text = key): Operation {
  return { type: 'put', key, value: Buffer.from(text) };
}

async function runLimitedWriter(directory: string): Promise<Static<typeof ReportShape>> {
  const command = `ulimit -S -f ${LIMIT_KIB}; exec "$0" "$@"`;
  const child = spawn('bash', ['-c', command, process.execPath, WRITER, directory], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const [report]: unknown[] = await Promise.race([once(child, 'message'), exited]);
  assert.equal(await exited, [0, null]);
  if (!compiled.Check(report)) throw new Error(`no report: ${String(report)}`);
  return report;
}

test('what is acknowledged after a write that tore the log is there after a restart', async () => {
  await using directory = await temporaryDirectory();
  const report = await runLimitedWriter(directory.path);
  assert.match(report.refusal, 'the store refused a write');
  assert.is(report.whileFailing.failing, true);
  assert.is(report.failing, false);
  const before = report.acknowledged.filter((key) => key.startsWith('before/'));
  assert.is(report.whileFailing.last, before.at(-1));
  assert.ok(before.length > 10);
  assert.is(report.acknowledged.length - before.length, 20, report.together.join('\n'));
  await using store = await Store.open(directory.path);
  for (const key of report.acknowledged) assert.is((await store.get(key))?.length, 40_000, key);
  assert.is(await store.get(`before/${before.length}`), undefined);
});

test('a write is there when it resolves and after the store was opened again', async () => {
  await using directory = await temporaryDirectory();
  {
    await using store = await Store.open(directory.path);
    await Promise.all(Array.from({ length: 200 }, (_, i) => store.write([put(`k${i}`)])));
    assert.is(Buffer.from((await store.get('k199')) ?? []).toString(), 'k199');
  }
  await using store = await Store.open(directory.path);
  const rows = await Array.fromAsync(store.range({ gte: 'k', lt: 'l' }));
  assert.is(rows.length, 200);
});

test('a store has one owner', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  await store.write([put('a')]);
  const error: unknown = await Store.open(directory.path).catch((thrown: unknown) => thrown);
  assert.is(error instanceof Error && 'code' in error && error.code, 'locked');
});

test('writes that wait are written together, in order, after the one under way', async () => {
  const applied: string[][] = [];
  const gates: (() => void)[] = [];
  const lane = new WriteLane((operations) => {
    applied.push(operations.map(({ key }) => key));
    return new Promise((resolve) => gates.push(resolve));
  });
  const writes = [lane.write([put('a')]), lane.write([put('b')]), lane.write([put('c'), put('d')])];
  assert.equal(applied, [['a']]);
  gates.shift()?.();
  await writes[0];
  await Promise.resolve();
  assert.equal(applied, [['a'], ['b', 'c', 'd']]);
  gates.shift()?.();
  await Promise.all(writes);
  await lane.idle();
});

test('a refused write refuses all that were in it and none after', async () => {
  let count = 0;
  const lane = new WriteLane(async () => {
    if (++count === 2) throw new Error('refused');
  });
  const first = lane.write([put('a')]);
  const fates = await Promise.allSettled([first, lane.write([put('b')]), lane.write([put('c')])]);
  assert.equal(
    fates.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  await lane.write([put('d')]);
});

test.run();
