import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { INITIAL_HEAD, LinkError } from '../../../../node/anchoring/topic/topic-links.ts';
import { FinalPoints } from '../../../../node/anchoring/topic/final-points.ts';
import { compareTrails, Trail, WAYPOINT_SPACING, WINDOW_MESSAGES } from '../../../../node/anchoring/topic/trail.ts';
import { chain, forkOf, headOf, pointAt, texts, TOPIC } from './topic-chain.ts';

const TRUTH = chain(texts(3_000));
const none = (): boolean => false;

function follow(messages = TRUTH, isKept: (sequence: number) => boolean = none): Trail {
  const trail = new Trail(TOPIC, INITIAL_HEAD);
  trail.take(0, messages, true, isKept);
  return trail;
}

test('messages are held up to the window; past it running hashes, all of the newest and some of the others', () => {
  const trail = follow(TRUTH, (sequence) => sequence === 1_500);
  assert.is(trail.lastHeld, WINDOW_MESSAGES);
  assert.is(trail.head.sequence, 3_000);
  assert.is(trail.isWhole, false);
  for (const known of [1, 1_024, 10 * WAYPOINT_SPACING, 1_500, 1_977, 3_000]) {
    assert.is(trail.hashAt(known), pointAt(TRUTH, known).runningHash, `${known}`);
  }
  for (const forgotten of [1_025, 1_501, 1_976]) assert.is(trail.hashAt(forgotten), undefined, `${forgotten}`);
  assert.is(trail.floor(1_501), 1_500);
  const whole = new Trail(TOPIC, INITIAL_HEAD);
  assert.is(whole.take(0, TRUTH, false, none), WINDOW_MESSAGES, 'where it may not pass the window, it stops there');
  assert.ok(whole.isWhole);
});

test('what was processed makes room, in messages and in bytes', () => {
  const bulky = chain(texts(300).map((text) => text.padEnd(6_000, '.')));
  const trail = new Trail(TOPIC, INITIAL_HEAD);
  const taken = trail.take(0, bulky, false, none);
  assert.is(taken, 174, 'one mebibyte');
  assert.is(trail.take(taken - 1, bulky.slice(taken - 1), false, none), 0);
  trail.advance(headOf(bulky.slice(0, 100)));
  assert.is(trail.messages[0]?.sequence, 101);
  assert.is(trail.take(taken - 1, bulky.slice(taken - 1), false, none), 100);
});

test('an answer that was asked for before the trail was dropped is not taken', () => {
  const trail = follow(TRUTH.slice(0, 50));
  trail.restart(headOf(TRUTH.slice(0, 10)));
  assert.is(trail.take(49, TRUTH.slice(49, 60), true, none), 0);
  assert.is(trail.take(9, TRUTH.slice(9, 20), true, none), 10);
});

test('what is said again must be what was said, and nothing of an answer that does not link is taken', () => {
  const trail = follow(TRUTH.slice(0, 50));
  const lie = forkOf(TRUTH.slice(0, 60), 50, 'lie');
  assert.throws(
    () => trail.take(49, lie.slice(49), true, none),
    (error: unknown) => error instanceof LinkError,
  );
  assert.throws(() => trail.take(49, [...TRUTH.slice(49, 55), ...TRUTH.slice(56, 60)], true, none));
  assert.is(trail.head.sequence, 50);
  assert.is(trail.take(49, TRUTH.slice(49, 60), true, none), 10);
});

test('two trails are compared where both are known', () => {
  const trail = follow();
  assert.equal(compareTrails(trail, follow(TRUTH.slice(0, 700))), { equal: 700, differs: null });
  assert.equal(compareTrails(trail, follow(forkOf(TRUTH, 600, 'lie'))), { equal: 599, differs: 600 });
  // Both keep one hash of so many there.
  assert.equal(compareTrails(trail, follow(forkOf(TRUTH, 1_500, 'lie'))), { equal: 1_408, differs: 1_536 });
});

test('points before one that is known to be final are learnt from any trail that reaches it', () => {
  const points = new FinalPoints(INITIAL_HEAD);
  const later = new Trail(TOPIC, headOf(TRUTH.slice(0, 2_400)));
  later.take(2_399, TRUTH.slice(2_399, 2_500), true, none);
  points.extend(later, 2_500);
  const trail = follow();
  assert.is(points.within(trail), null, 'none is among the messages that are held');
  points.refine(follow(forkOf(TRUTH, 2_000, 'lie')));
  assert.is(points.within(trail), null, 'a trail that does not reach it shows nothing');
  points.refine(trail);
  assert.equal(points.within(trail), pointAt(TRUTH, 1_024));
  assert.is(points.contradictionOf(follow(forkOf(TRUTH, 300, 'lie'))), 384);
});

test.run();
