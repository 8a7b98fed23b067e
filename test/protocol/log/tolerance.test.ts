import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { majorityOf } from '../../../protocol/log/roster.ts';
import { toleranceOf } from '../../../protocol/log/tolerance.ts';
import { TestFederation } from '../../fixtures/federation.ts';

const { members: all } = await TestFederation.create({ nodes: ['us', 'eu', 'ca', 'sg', 'jp', 'za', 'br'] });

function rowOf(members: number, quorum: number): readonly number[] {
  const named = all.slice(0, members).map(({ member }) => member);
  const { awayForConfirmation, awayForChanges, liarsInVain } = toleranceOf({ members: named, quorum });
  return [awayForConfirmation, awayForChanges, liarsInVain];
}

test('five at quorum 3: one may be away for confirmation, two for changes, two lie in vain', () => {
  assert.equal(rowOf(5, 3), [1, 2, 2]);
  assert.equal(rowOf(5, 1), [2, 2, 0]);
  assert.equal(rowOf(5, 4), [0, 2, 2]);
});

test('a federation of one, and of two, stands nothing', () => {
  assert.equal(rowOf(1, 0), [0, 0, 0]);
  assert.equal(rowOf(2, 1), [0, 0, 0]);
});

test('a majority of liars needs no quorum, and a larger quorum lets nobody more be away', () => {
  for (let members = 2; members <= all.length; members++) {
    const majority = majorityOf({ members: all.slice(0, members).map(({ member }) => member) });
    let before = members;
    for (let quorum = 1; quorum < members; quorum++) {
      const [confirmation = 0, changes = 0, liars = 0] = rowOf(members, quorum);
      assert.ok(confirmation >= 0 && confirmation <= before && confirmation <= changes);
      assert.is(changes, members - majority);
      assert.is(liars, Math.min(quorum, majority) - 1);
      before = confirmation;
    }
  }
});

test.run();
