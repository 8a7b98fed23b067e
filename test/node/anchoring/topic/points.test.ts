import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Points } from '../../../../node/anchoring/topic/points.ts';
import { writeSha384 } from '../../../../protocol/hash.ts';

const hash = (byte: number) => writeSha384(new Uint8Array(48).fill(byte));
const point = (sequence: number, byte = 1) => ({ sequence, runningHash: hash(byte) });

function pointsOf(most: number, sequences: readonly number[]): Points {
  const points = new Points(most);
  for (const sequence of sequences) points.add(point(sequence));
  return points;
}

const sequencesOf = (points: Points): number[] => [...points].map(({ sequence }) => sequence);

test('points are kept by sequence number, one of each', () => {
  const points = pointsOf(5, [7, 3, 9]);
  points.add(point(7, 2));
  assert.equal(sequencesOf(points), [3, 7, 9]);
  assert.is(points.hashAt(7), hash(2));
  assert.is(points.hashAt(8), undefined);
  assert.is(points.highest?.sequence, 9);
});

test('over the bound the lowest, which a reading reaches first, and the highest stay', () => {
  assert.equal(sequencesOf(pointsOf(3, [1, 2, 3, 4, 5, 6])), [1, 2, 6]);
  assert.equal(sequencesOf(pointsOf(3, [1e9, 9e9, 8e9, 5, 6])), [5, 6, 9e9], 'no invented point keeps a real one out');
});

test('points are dropped from a sequence number on, and up to one', () => {
  const points = pointsOf(9, [1, 2, 3, 4, 5]);
  points.dropThrough(1);
  points.dropFrom(4);
  assert.equal(sequencesOf(points), [2, 3]);
});

test.run();
