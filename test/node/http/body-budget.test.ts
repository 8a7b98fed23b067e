import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BodyBudget, type BodyShare } from '../../../node/http/body-bytes.ts';
import { fc } from '../../fixtures/properties.ts';

test('the largest body goes when there is no room, and a small one gets through', () => {
  const budget = new BodyBudget(1000);
  const gone: string[] = [];
  const open = (name: string): BodyShare => budget.open(() => gone.push(name));
  open('hog').grow(600);
  open('other').grow(390);
  const small = open('small');
  small.grow(20);
  assert.equal(gone, ['hog']);
  assert.is(budget.bytes, 410);
  small.release();
  small.release();
  assert.is(budget.bytes, 390);
});

test('a body that is itself the largest goes', () => {
  const budget = new BodyBudget(1000);
  let gone = 0;
  const share = budget.open(() => gone++);
  share.grow(1001);
  assert.is(gone, 1);
  assert.is(budget.bytes, 0);
  share.release();
  assert.is(budget.bytes, 0);
});

test('the bound holds after every step, and what is left is what is counted', () => {
  const step = fc.record({ who: fc.nat(7), bytes: fc.integer({ min: 0, max: 400 }), ends: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = new BodyBudget(1000);
      const held = new Map<number, { share: BodyShare; bytes: number }>();
      for (const { who, bytes, ends } of steps) {
        const body = held.get(who) ?? { share: budget.open(() => held.delete(who)), bytes: 0 };
        held.set(who, body);
        body.bytes += bytes;
        body.share.grow(bytes);
        if (ends && held.has(who)) {
          body.share.release();
          held.delete(who);
        }
        const total = [...held.values()].reduce((sum, other) => sum + other.bytes, 0);
        assert.is(budget.bytes, total);
        assert.ok(total <= 1000);
      }
    }),
  );
});

test.run();
