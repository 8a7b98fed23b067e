import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Held } from '../../../node/concurrency/held.ts';

test('what is held is let go of once, however often it is disposed', () => {
  let released = 0;
  const held = new Held(() => void released++);
  assert.is(released, 0);
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  assert.is(released, 1);
});

test('what fails to be let go of is not tried again', () => {
  let tried = 0;
  const held = new Held(() => {
    tried++;
    throw new RangeError('gone');
  });
  assert.throws(() => held[Symbol.dispose](), RangeError);
  held[Symbol.dispose]();
  assert.is(tried, 1);
});

test.run();
