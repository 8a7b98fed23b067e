import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HolderCounts } from '../../../../node/accounts/limits/holder-counts.ts';

test('a holder has what it was given and has not given back', () => {
  const counts = new HolderCounts();
  const first = counts.add('a', 3);
  const second = counts.add('a');
  counts.add('b', 2);
  assert.equal([counts.of('a'), counts.of('b'), counts.of('c'), counts.size], [4, 2, 0, 2]);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  assert.is(counts.of('a'), 1);
  second[Symbol.dispose]();
  assert.equal([counts.of('a'), counts.size], [0, 1]);
});

test.run();
