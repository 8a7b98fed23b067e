import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { allowedAfter } from '../../../protocol/compliance/corrective-action.ts';
import { ACTION_STATUSES } from '../../../protocol/statement/vocabulary.ts';

/** planned -> in-progress -> implemented -> verified -> closed; implemented|verified -> ineffective -> in-progress. */
const MOVES: readonly string[] = [
  'planned > in-progress',
  'in-progress > implemented',
  'implemented > verified',
  'verified > closed',
  'implemented > ineffective',
  'verified > ineffective',
  'ineffective > in-progress',
];

test('an action moves as the lifecycle says, and any but a finished one may be cancelled', () => {
  for (const from of ACTION_STATUSES) {
    for (const to of ACTION_STATUSES) {
      const isFinished = from === 'closed' || from === 'cancelled';
      const expected = MOVES.includes(`${from} > ${to}`) || (to === 'cancelled' && !isFinished);
      assert.is(allowedAfter(from).includes(to), expected, `${from} > ${to}`);
    }
  }
});

test('a new action begins as anything but closed or ineffective', () => {
  for (const to of ACTION_STATUSES) {
    assert.is(allowedAfter(null).includes(to), to !== 'closed' && to !== 'ineffective', to);
  }
});

test('every status can be reached, and from every one that is not finished an end', () => {
  const reach = (from: readonly string[]): Set<string> => {
    const seen = new Set(from);
    for (const at of seen) for (const to of ACTION_STATUSES) if (isMove(at, to)) seen.add(to);
    return seen;
  };
  assert.equal([...reach(['planned'])].sort(), [...ACTION_STATUSES].sort());
  for (const from of ACTION_STATUSES) {
    const ends = [...reach([from])].filter((status) => status === 'closed' || status === 'cancelled');
    assert.ok(ends.length > 0, from);
  }
});

function isMove(from: string, to: string): boolean {
  const status = ACTION_STATUSES.find((known) => known === from);
  return status !== undefined && allowedAfter(status).some((allowed) => allowed === to);
}

test.run();
