import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import { recordTime } from '../../../node/intake/record-time.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;

/** The time of record 5, after one at noon; `code` where there is none. */
function timeOf({ clock = NOON, off = false, unsealedFrom = 5, leastFrom = 0 as number | null, seals = [0] }) {
  const sealer = { unsealedFrom, leastFrom, seal: async () => void (seals[0] = (seals[0] ?? 0) + 1) };
  try {
    return recordTime({ now: () => clock, isClockOff: () => off, sealer }, 5, NOON);
  } catch (error) {
    if (error instanceof IntakeError) return error.code;
    throw error;
  }
}

test('a record has the time of the clock', () => {
  assert.is(timeOf({ clock: NOON + 7 }), NOON + 7);
  assert.is(timeOf({ clock: NOON + 7, unsealedFrom: 3 }), NOON + 7);
});

test('a clock that goes back a little stands still', () => {
  assert.is(timeOf({ clock: NOON - MINUTE }), NOON);
  assert.is(timeOf({ clock: NOON - MINUTE, unsealedFrom: 3 }), NOON);
});

test('a clock before records that are not sealed records nothing, and has them sealed', () => {
  const seals = [0];
  assert.is(timeOf({ clock: NOON - 60 * MINUTE, unsealedFrom: 3, seals }), 'clock-off');
  assert.equal(seals, [1]);
});

test('once they are sealed, records go on where the next batch may begin', () => {
  const clock = NOON - 60 * MINUTE;
  assert.is(timeOf({ clock, leastFrom: NOON - 5 * MINUTE }), 'clock-off');
  assert.is(timeOf({ clock, leastFrom: clock }), clock);
});

test('nothing is recorded while most clocks differ, or before the ledger names the node', () => {
  assert.is(timeOf({ off: true }), 'clock-off');
  assert.is(timeOf({ leastFrom: null }), 'clock-off');
});

test.run();
