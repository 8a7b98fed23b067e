import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { joinFrames, splitFrames } from '../../../node/store/frames.ts';
import { fc } from '../../fixtures/properties.ts';

const frames = fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 20 });
const bytesOf = (all: readonly Uint8Array[]): number[][] => all.map((bytes) => [...bytes]);

test('what was joined is split into the same frames, empty ones included', () => {
  fc.assert(
    fc.property(frames, (all) => {
      assert.equal(bytesOf(splitFrames(joinFrames(all))), bytesOf(all));
    }),
  );
});

test('frames are read from a part of a larger buffer', () => {
  const joined = joinFrames([Uint8Array.of(7, 8), Uint8Array.of()]);
  const larger = new Uint8Array(joined.length + 10).fill(255);
  larger.set(joined, 5);
  assert.equal(bytesOf(splitFrames(larger.subarray(5, 5 + joined.length))), [[7, 8], []]);
});

test('a row that was cut or has bytes too many is refused', () => {
  fc.assert(
    fc.property(frames, fc.nat(), (all, at) => {
      const joined = joinFrames(all);
      const lengths = new Set<number>([0]);
      let end = 0;
      for (const frame of all) lengths.add((end += 4 + frame.length));
      const cut = joined.length === 0 ? 0 : at % joined.length;
      if (!lengths.has(cut)) assert.throws(() => splitFrames(joined.subarray(0, cut)), isRangeError);
      const longer = new Uint8Array(joined.length + 1 + (at % 3));
      longer.set(joined);
      assert.throws(() => splitFrames(longer), isRangeError);
    }),
  );
});

test('a length past the end is refused before anything is read', () => {
  assert.throws(() => splitFrames(Uint8Array.of(255, 255, 255, 255, 1)), isRangeError);
});

function isRangeError(error: unknown): boolean {
  return error instanceof RangeError;
}

test.run();
