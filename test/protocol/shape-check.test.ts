import Type from 'typebox';
import { Compile as CompileNow } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Compile } from '../../protocol/shape-check.ts';
import { Closed, CountShape, TimestampShape } from '../../protocol/shapes.ts';
import { fc } from '../fixtures/properties.ts';

const SHAPE = Closed({
  at: TimestampShape,
  counts: Type.Array(CountShape),
  note: Type.Optional(Type.String({ maxLength: 3 })),
});
/** Values near the shape, and far from it. */
const VALUES = fc.oneof(
  fc.jsonValue(),
  fc.record({
    at: fc.constantFrom('2026-11-23T19:00:00.000Z', '2026-02-30T19:00:00.000Z', 'now', null),
    counts: fc.oneof(fc.array(fc.integer()), fc.string()),
    note: fc.option(fc.string(), { nil: undefined }),
  }),
);

test('nothing is compiled before a value is checked', () => {
  let reads = 0;
  const shape = Type.Object({});
  Object.defineProperty(shape, 'required', { enumerable: true, get: () => void reads++ });
  const check = Compile(shape);
  assert.is(reads, 0);
  assert.ok(check.Check({}));
  assert.ok(reads > 0);
});

test('it accepts what a check that is compiled at once accepts, and finds the same faults', () => {
  const [late, now] = [Compile(SHAPE), CompileNow(SHAPE)];
  fc.assert(
    fc.property(VALUES, (value) => {
      assert.is(late.Check(value), now.Check(value));
      assert.equal(late.Errors(value), now.Errors(value));
    }),
  );
});

test('faults are found without a check before', () => {
  assert.is(Compile(SHAPE).Errors({ at: 'now', counts: [] }).length > 0, true);
});

test.run();
