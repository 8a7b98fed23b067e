import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PayloadCipher } from '../../../../node/records/payload/payload-cipher.ts';
import { eraseKeys } from '../../../../node/records/payload/payload-keys.ts';
import { payloadOperations, payloadTable, readPayload } from '../../../../node/records/payload/payload-tables.ts';
import { newRecordId } from '../../../../node/records/record-id.ts';
import { Store } from '../../../../node/store/store.ts';
import { nodeId, type RecordId } from '../../../../protocol/ids.ts';
import { fc } from '../../../fixtures/properties.ts';

const EU = nodeId('eu');
const ROW_BYTES = 256 << 10;
const directory = await mkdtemp(join(tmpdir(), 'meridian-payload-'));
const store = await Store.open(directory);
const cipher = new PayloadCipher(new Uint8Array(32).fill(9));
let next = 1;

test.after(async () => {
  await store[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

interface Kept {
  readonly id: RecordId;
  readonly seq: number;
  readonly text: string;
}

/** Writes a group of payloads of these lengths, as intake does. */
async function write(lengths: readonly number[]): Promise<readonly Kept[]> {
  const kept = lengths.map((length, i) => ({
    id: newRecordId(EU, Date.now()),
    seq: next + i,
    text: `${next + i} ${'x'.repeat(length)}`,
  }));
  const payloads = kept.map(({ id, text }) => ({ id, sealed: cipher.seal(id, new Uint8Array(32).fill(1), text) }));
  await store.write(payloadOperations(next, payloads));
  next += lengths.length;
  return kept;
}

test('every payload of every group is found again, whatever the sizes', async () => {
  const lengths = fc.array(fc.oneof(fc.nat(50), fc.constantFrom(ROW_BYTES - 60, ROW_BYTES, ROW_BYTES + 1)), {
    minLength: 1,
    maxLength: 150,
  });
  const property = fc.asyncProperty(lengths, async (sizes) => {
    for (const { id, seq, text } of await write(sizes)) {
      const opened = await readPayload(store, cipher, id, seq);
      assert.ok(typeof opened === 'object');
      assert.is(opened.text, text);
    }
  });
  await fc.assert(property, { numRuns: 6 });
});

test('a row holds 64 payloads at most, and ends once it is large', async () => {
  const first = next;
  await write(Array.from({ length: 65 }, () => 1));
  await write([ROW_BYTES, ROW_BYTES, 1]);
  const rows = await Array.fromAsync(payloadTable.under(store, [], { from: first }));
  assert.equal(
    rows.map(([parts]) => Number(parts[0]) - first),
    [0, 64, 65, 66, 67],
  );
});

test('once its key is zeroed a payload is erased, and its neighbours are not', async () => {
  const [a, b] = await write([10, 10]);
  assert.ok(a !== undefined && b !== undefined);
  const { operations } = await eraseKeys(store, [a]);
  await store.write(operations);
  assert.is(await readPayload(store, cipher, a.id, a.seq), 'erased');
  assert.is(typeof (await readPayload(store, cipher, b.id, b.seq)), 'object');
});

test('a payload whose ciphertext is not there, or is that of another record, is an error and never a wrong answer', async () => {
  const [a, b] = await write([10, 10]);
  assert.ok(a !== undefined && b !== undefined);
  const refused = async (seq: number, message: RegExp) => {
    const outcome = await readPayload(store, cipher, a.id, seq).then(
      () => 'opened',
      (error: unknown) => String(error),
    );
    assert.match(outcome, message);
  };
  await refused(b.seq, /does not open/);
  await store.write([payloadTable.del(a.seq)]);
  await refused(a.seq, /is missing/);
});

test.run();
