import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PortCaller, serveCalls } from '../../../node/concurrency/port-call.ts';
import { PortReads, type StoreCalls, storeHandlers } from '../../../node/store/port-reads.ts';
import { type RangeOptions, Store } from '../../../node/store/store.ts';
import { numberCodec, Table } from '../../../node/store/table.ts';
import { fc } from '../../fixtures/properties.ts';

/** More than three calls bring. */
const ROWS = 200;

const directory = await mkdtemp(join(tmpdir(), 'meridian-port-reads-'));
const store = await Store.open(directory);
const table = new Table('number', numberCodec);
const { port1, port2 } = new MessageChannel();
serveCalls<StoreCalls>(port1, storeHandlers(store));
const reads = new PortReads(new PortCaller<StoreCalls>(port2));
await store.write(Array.from({ length: ROWS }, (_, i) => table.put(['eu', i], i)));

test.after(async () => {
  port1.close();
  port2.close();
  await store[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const bound = fc.option(
  fc.nat(ROWS).map((at) => table.key('eu', at)),
  { nil: undefined },
);

test('a range over a port is the range of the store, in either direction and with any bounds and limit', async () => {
  const limit = fc.option(fc.nat(ROWS + 1), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(bound, bound, fc.boolean(), fc.boolean(), limit, async (from, to, isOpen, reverse, most) => {
      const asked: RangeOptions = {
        reverse,
        ...(from !== undefined && (isOpen ? { gt: from } : { gte: from })),
        ...(to !== undefined && (isOpen ? { lt: to } : { lte: to })),
        ...(most !== undefined && { limit: most }),
      };
      assert.equal(await keysOf(reads.range(asked)), await keysOf(store.range(asked)));
    }),
    { numRuns: 50 },
  );
});

test('a row by its key, one that is not there, and the last below a number', async () => {
  assert.is(await table.get(reads, 'eu', 7), 7);
  assert.is(await table.get(reads, 'eu', ROWS), undefined);
  assert.equal(await table.last(reads, ['eu'], 9), await table.last(store, ['eu'], 9));
  assert.is(await reads.first({ gte: 'zzz' }), undefined);
});

test('what the other side throws comes back', async () => {
  const { port1: here, port2: there } = new MessageChannel();
  serveCalls<{ fail: { argument: string; result: never } }>(here, { fail: (text) => Promise.reject(new Error(text)) });
  const caller = new PortCaller<{ fail: { argument: string; result: never } }>(there);
  const error = await caller.call('fail', 'no such row').then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.instance(error, Error);
  assert.match(String(error), /no such row/);
  here.close();
  there.close();
});

async function keysOf(rows: AsyncIterable<readonly [string, Uint8Array]>): Promise<string[]> {
  return (await Array.fromAsync(rows)).map(([key]) => key);
}

test.run();
