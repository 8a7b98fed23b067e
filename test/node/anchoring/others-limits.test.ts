import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  leastNamedFirst,
  mayNameForOther,
  type NamedForOther,
  namedForOther,
} from '../../../node/anchoring/others-limits.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';

const [EU, US, JP] = [nodeId('eu'), nodeId('us'), nodeId('jp')];
const NOON = Date.UTC(2026, 5, 1, 12);
const DAY_MS = 24 * 60 * 60 * 1000;

/** Names for a node as long as it may; how often it did. */
async function spend(rows: MemoryRows, kind: NamedForOther, node: typeof EU, now: number, leaves = 0): Promise<number> {
  let count = 0;
  for (; await mayNameForOther(rows, kind, node, now, leaves); count++) {
    await rows.write([await namedForOther(rows, kind, node, now)]);
  }
  return count;
}

test('64 rescues and 8 revocations a day are named for one other node, each day anew', async () => {
  const rows = new MemoryRows();
  assert.equal([await spend(rows, 'rescue', EU, NOON), await spend(rows, 'revocation', EU, NOON)], [64, 8]);
  assert.equal([await spend(rows, 'rescue', EU, NOON), await spend(rows, 'revocation', EU, NOON)], [0, 0]);
  assert.is(await spend(rows, 'revocation', US, NOON), 8, 'another node has its own');
  assert.is(await spend(rows, 'revocation', EU, NOON + DAY_MS), 8);
  assert.is(await spend(rows, 'revocation', EU, NOON), 0, 'a clock that goes back brings nothing');
});

test('a clock that was a year ahead keeps no names from today once it is set', async () => {
  const rows = new MemoryRows();
  assert.is(await spend(rows, 'revocation', EU, NOON + 365 * DAY_MS), 8);
  assert.is(await spend(rows, 'revocation', EU, NOON), 8);
  assert.is(await spend(rows, 'revocation', EU, NOON), 0);
  assert.is(await spend(rows, 'revocation', EU, NOON + DAY_MS), 8);
});

test('what matters less leaves names of the day to what matters more', async () => {
  const rows = new MemoryRows();
  assert.is(await spend(rows, 'revocation', EU, NOON, 4), 4);
  assert.is(await spend(rows, 'revocation', EU, NOON, 2), 2);
  assert.is(await spend(rows, 'revocation', EU, NOON), 2);
});

test('nodes that had little named for them are served before those that had much', async () => {
  const rows = new MemoryRows();
  await spend(rows, 'rescue', EU, NOON);
  await rows.write([await namedForOther(rows, 'rescue', US, NOON)]);
  assert.equal(await leastNamedFirst(rows, 'rescue', [EU, US, JP, EU], NOON), [JP, US, EU]);
  assert.equal(
    await leastNamedFirst(rows, 'rescue', [US, EU], NOON + DAY_MS),
    [EU, US],
    'on another day all are alike',
  );
});

test.run();
