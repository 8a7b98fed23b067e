import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PayloadCipher } from '../../../../node/records/payload/payload-cipher.ts';
import {
  eraseKeys,
  keyOperations,
  keyRow,
  ownerOfKeys,
  payloadKeyTable,
  preparedKeyTable,
  readSeed,
  readSeeds,
  splitKeyRow,
} from '../../../../node/records/payload/payload-keys.ts';
import { readPayload } from '../../../../node/records/payload/payload-tables.ts';
import { newRecordId } from '../../../../node/records/record-id.ts';
import { DuePurges } from '../../../../node/store/due-purges.ts';
import { Store } from '../../../../node/store/store.ts';
import { nodeId, type RecordId } from '../../../../protocol/ids.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';
import { fc } from '../../../fixtures/properties.ts';
import { filesHolding } from '../../../fixtures/store-files.ts';
import { until } from '../../../fixtures/until.ts';

const EU = nodeId('eu');
const [SEED_BYTES, GCM_SEED_BYTES, ROW_RECORDS] = [33, 32, 64];
const scratch = await mkdtemp(join(tmpdir(), 'meridian-payload-keys-'));
const log = pino({ level: 'silent' });
test.after(() => rm(scratch, { recursive: true }));

interface Keyed {
  readonly id: RecordId;
  readonly seq: number;
  readonly seed: Uint8Array;
}

/** A seed of ChaCha20-Poly1305. */
function newSeed(): Uint8Array {
  const seed = randomBytes(SEED_BYTES);
  seed[0] = 1;
  return seed;
}

function group(first: number, size: number): readonly Keyed[] {
  return Array.from({ length: size }, (_, i) => ({ id: newRecordId(EU, Date.now()), seq: first + i, seed: newSeed() }));
}

function rowsOf(first: number, keyed: readonly Keyed[]) {
  return keyOperations(
    first,
    keyed.map(({ id, seed }) => ({ id, sealed: { seed } })),
  );
}

const bytesOf = (seed: Uint8Array | null | undefined) => (seed ? Buffer.from(seed).toString('hex') : seed);

test('the seeds of a group are found again in rows of 64, by record', async () => {
  const sizes = fc.array(fc.oneof(fc.nat({ max: 5 }), fc.constantFrom(63, 64, 65, 128, 200)), {
    minLength: 1,
    maxLength: 6,
  });
  const property = fc.asyncProperty(sizes, async (groups) => {
    const rows = new MemoryRows();
    const all: Keyed[] = [];
    for (const size of groups) {
      const keyed = group(all.length + 1, size);
      const operations = rowsOf(all.length + 1, keyed);
      assert.is(operations.length, Math.ceil(size / ROW_RECORDS));
      await rows.write(operations);
      all.push(...keyed);
    }
    assert.equal(
      (await readSeeds(rows, all)).map(bytesOf),
      all.map(({ seed }) => bytesOf(seed)),
    );
    const [one] = group(all.length + 1, 1);
    assert.ok(one);
    assert.is(await readSeed(rows, one), undefined);
  });
  await fc.assert(property, { numRuns: 20 });
});

test('a group that was taken back from peers has no keys, whatever stands before it', async () => {
  const rows = new MemoryRows();
  await rows.write(rowsOf(1, group(1, 3)));
  const taken = group(4, 3);
  await rows.write(rowsOf(7, group(7, 3)));
  assert.equal(await readSeeds(rows, taken), [undefined, undefined, undefined]);
});

test('a row says the cipher of each seed, and is read again as it was written', () => {
  const { seed: packed } = new PayloadCipher(new Uint8Array(32)).sealPacked(
    newRecordId(EU, 0),
    new Uint8Array(32),
    'text',
  );
  const seeds = [newSeed(), null, randomBytes(GCM_SEED_BYTES), new Uint8Array(GCM_SEED_BYTES), packed];
  const row = keyRow(seeds);
  assert.equal(
    seeds.map((_, place) => row[place * SEED_BYTES]),
    [1, 0, 2, 2, 3],
  );
  assert.equal(splitKeyRow(row).map(bytesOf), seeds.map(bytesOf));
  assert.throws(() => keyRow([randomBytes(31)]), 'no known cipher');
});

test('a row of another length, or with a place that is no seed, does not read, and opens nothing', async () => {
  const keyed = group(1, 3);
  const payloadCipher = new PayloadCipher(new Uint8Array(32));
  const whole = keyRow(keyed.map(({ seed }) => seed));
  const cipher = Uint8Array.from(whole);
  cipher[SEED_BYTES] = 4;
  const cleared = Uint8Array.from(whole);
  cleared[SEED_BYTES] = 0;
  for (const row of [whole.subarray(0, -1), cipher, cleared]) {
    assert.throws(() => splitKeyRow(row), /another length|holds no seed/);
    const rows = new MemoryRows();
    await rows.write([payloadKeyTable.put([EU, 1], row)]);
    const [, second] = keyed;
    assert.ok(second);
    const seed = await readSeed(rows, second);
    assert.ok(seed, 'it does not pass for erased');
    assert.throws(() => payloadCipher.open(second.id, { seed, ciphertext: new Uint8Array(100) }), 'does not open');
  }
  assert.throws(() => splitKeyRow(new Uint8Array(SEED_BYTES * (ROW_RECORDS + 1))), 'another length');
});

test('a damaged row gives no seed that is cut from it or stands where no record can be', async () => {
  const keyed = group(1, ROW_RECORDS + 1);
  const rows = new MemoryRows();
  const row = keyRow(keyed.map(({ seed }) => seed));
  await rows.write([payloadKeyTable.put([EU, 1], row)]);
  const [first] = keyed;
  const last = keyed.at(-1);
  assert.ok(first && last);
  assert.equal(bytesOf(await readSeed(rows, first)), bytesOf(first.seed));
  assert.is(await readSeed(rows, last), undefined, 'a row has so many places');
  await rows.write([payloadKeyTable.put([EU, 1], row.subarray(0, SEED_BYTES + 5))]);
  assert.equal(bytesOf(await readSeed(rows, first)), '', 'what is left opens nothing');
  const unknown = Uint8Array.from(first.seed);
  unknown[0] = 9;
  assert.throws(() => keyRow([unknown]), /no known cipher/);
  assert.throws(() => keyRow([first.seed.subarray(2)]), /no known cipher/);
});

test('erasures that meet in a row undo nothing of each other', async () => {
  await using store = await Store.open(join(scratch, 'meeting'));
  const keyed = group(1, 130);
  await store.write(rowsOf(1, keyed));
  const erased = keyed.filter((_, i) => i % 3 === 0);
  // Each is prepared before any is written, as erasures that wait for the same group are.
  const prepared = await Promise.all(erased.map((one) => eraseKeys(store, [one])));
  await Promise.all(prepared.map(({ operations }) => store.write(operations)));
  const seeds = await readSeeds(store, keyed);
  assert.equal(
    seeds.map(bytesOf),
    keyed.map(({ seed }, i) => (i % 3 === 0 ? undefined : bytesOf(seed))),
  );
});

test('several keys of a row are erased by one change of it', async () => {
  const rows = new MemoryRows();
  const keyed = group(1, 70);
  await rows.write(rowsOf(1, keyed));
  const { operations, rows: changed } = await eraseKeys(rows, keyed);
  assert.is(operations.filter(({ type }) => type === 'rewrite').length, 2);
  assert.is(changed.length, 2 + keyed.length, 'and what may be left under their ids is purged');
  await rows.write(operations);
  const stored = await Array.fromAsync(payloadKeyTable.under(rows, [EU]), ([, row]) => row);
  assert.equal(
    stored.map(({ length }) => length),
    [ROW_RECORDS * SEED_BYTES, 6 * SEED_BYTES],
  );
  assert.ok(stored.every((row) => row.every((byte) => byte === 0)));
});

/** A store in which seeds were moved from under their ids to a row, with older copies of both in its files. */
async function usedStore(directory: string, keyed: readonly Keyed[]): Promise<void> {
  {
    await using store = await Store.open(directory);
    await store.write(keyed.map(({ id, seed }) => preparedKeyTable.put([id], seed)));
  }
  {
    await using store = await Store.open(directory);
    await store.write([...rowsOf(1, keyed), ...keyed.map(({ id }) => preparedKeyTable.del(id))]);
  }
  await using store = await Store.open(directory);
  await store.write([{ type: 'rewrite', key: payloadKeyTable.key(EU, 1), rewrite: (row) => row }]);
}

test('an erased seed is in no file after the purge, and its neighbours still open their payloads', async () => {
  const directory = join(scratch, 'purged');
  const keyed = group(1, 5);
  await usedStore(directory, keyed);
  await using store = await Store.open(directory);
  await using purges = new DuePurges(store, log);
  const [gone, stays] = [keyed.slice(1, 3), keyed.filter((_, i) => i < 1 || i > 2)];
  for (const { seed } of keyed) assert.ok((await filesHolding(directory, seed)).length > 1);
  const { operations, rows } = await eraseKeys(store, gone);
  await store.write([...operations, ...purges.due(rows)]);
  for (const { seed } of gone) {
    assert.ok((await filesHolding(directory, seed)).length > 0, 'zeroed, and not purged yet');
  }
  await purges.look();
  // Compression writes the end of a seed before zeros as a repetition, where its last bytes happen to be one.
  for (const { seed } of gone) assert.equal(await filesHolding(directory, seed.subarray(1, -3)), []);
  for (const { seed } of stays) assert.ok((await filesHolding(directory, seed.subarray(0, -3))).length > 0);
  assert.equal(
    (await readSeeds(store, stays)).map(bytesOf),
    stays.map(({ seed }) => bytesOf(seed)),
  );
  for (const one of gone) {
    assert.is(await readPayload(store, new PayloadCipher(new Uint8Array(32)), one.id, one.seq), 'erased');
  }
});

test('killed between an erasure and its purge, a node purges at its next start', async () => {
  const directory = join(scratch, 'killed');
  const keyed = group(1, 64);
  await usedStore(directory, keyed);
  const gone = keyed.slice(7, 9);
  {
    await using store = await Store.open(directory);
    const { operations, rows } = await eraseKeys(store, gone);
    await store.write([...operations, ...new DuePurges(store, log).due(rows)]);
  }
  for (const { seed } of gone) assert.ok((await filesHolding(directory, seed)).length > 0);
  await using store = await Store.open(directory);
  await using purges = new DuePurges(store, log);
  purges.start();
  const left = async () =>
    (await Promise.all(gone.map(({ seed }) => filesHolding(directory, seed.subarray(1))))).flat();
  await until('the purge', async () => (await left()).length === 0);
  assert.is((await readSeeds(store, keyed)).filter((seed) => seed !== undefined).length, 62);
});

test('the keys of a store tell whose it is, in a row of them and under an id', async () => {
  const rows = new MemoryRows();
  assert.is(await ownerOfKeys(rows), null);
  await rows.write([preparedKeyTable.put([newRecordId(EU, Date.now())], newSeed())]);
  assert.is(await ownerOfKeys(rows), EU);
  const grown = new MemoryRows();
  await grown.write(rowsOf(1, group(1, 1)));
  assert.is(await ownerOfKeys(grown), EU);
});

test.run();
