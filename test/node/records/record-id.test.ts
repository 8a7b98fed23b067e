import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newRecordId, ulid, ULID_RANDOM_BYTES } from '../../../node/records/record-id.ts';
import { isRecordId, nodeId, nodeOfRecord } from '../../../protocol/ids.ts';
import { fc } from '../../fixtures/properties.ts';

const LAST_MS = 2 ** 48 - 1;
const NO_RANDOM = new Uint8Array(ULID_RANDOM_BYTES);
const time = fc.integer({ min: 0, max: LAST_MS });
const random = fc.uint8Array({ minLength: ULID_RANDOM_BYTES, maxLength: ULID_RANDOM_BYTES });

test("the time of the specification's example is written as there", () => {
  assert.is(ulid(1_469_918_176_385, NO_RANDOM).slice(0, 10), '01ARYZ6S41');
  assert.is(ulid(0, NO_RANDOM), '0'.repeat(26));
  assert.is(ulid(LAST_MS, new Uint8Array(ULID_RANDOM_BYTES).fill(255)), `7${'Z'.repeat(25)}`);
});

test('it is 26 letters of the alphabet, and text order is time order', () => {
  fc.assert(
    fc.property(time, time, random, random, (a, b, randomA, randomB) => {
      const [first, second] = [ulid(a, randomA), ulid(b, randomB)];
      assert.match(first, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      if (a !== b) assert.is(first < second, a < b);
    }),
  );
});

test('five bits of every random byte count, and no more', () => {
  fc.assert(
    fc.property(time, random, fc.nat(ULID_RANDOM_BYTES - 1), fc.nat(7), (at, bytes, index, bit) => {
      const other = Uint8Array.from(bytes);
      other[index] = (other[index] ?? 0) ^ (1 << bit);
      assert.is(ulid(at, bytes) === ulid(at, other), bit >= 5);
    }),
  );
});

test('a fraction of a millisecond is cut off', () => {
  assert.is(ulid(1_469_918_176_385.9, NO_RANDOM), ulid(1_469_918_176_385, NO_RANDOM));
});

test('a record id names its node, and no two are alike', () => {
  const ids = new Set<string>();
  for (const node of ['eu', 'us2', 'jp99']) {
    for (let i = 0; i < 2000; i++) {
      const id = newRecordId(nodeId(node), 1_763_717_400_000);
      assert.ok(isRecordId(id));
      assert.is(nodeOfRecord(id), node);
      ids.add(id);
    }
  }
  assert.is(ids.size, 6000);
});

test.run();
