import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MINUTE_MS, SlidingWindow } from '../../../../node/accounts/limits/sliding-window.ts';
import { fc } from '../../../fixtures/properties.ts';

const WIDE_WINDOW = { windowMs: MINUTE_MS, maxSubjects: 1_000 };

/** What a sliding window is, as plainly as it can be written. */
class NaiveWindow {
  readonly #taken = new Map<string, number[]>();
  #now = Number.NEGATIVE_INFINITY;

  take(subject: string, limit: number, at: number): { allowed: boolean; remaining: number; freesAt: number | null } {
    this.#now = Math.max(this.#now, at);
    const recent = (this.#taken.get(subject) ?? []).filter((time) => time > this.#now - MINUTE_MS);
    const allowed = recent.length < limit;
    if (allowed) recent.push(this.#now);
    this.#taken.set(subject, recent);
    const next = recent[Math.max(0, recent.length - limit)];
    const freesAt = next === undefined ? null : next + MINUTE_MS - this.#now;
    return { allowed, remaining: Math.max(0, limit - recent.length), freesAt };
  }
}

const requests = fc.array(
  fc.record({
    subject: fc.constantFrom('a', 'b'),
    // Now and then a clock that goes back.
    step: fc.oneof(
      { weight: 20, arbitrary: fc.integer({ min: 0, max: 1_200 }) },
      { weight: 10, arbitrary: fc.integer({ min: 0, max: 9_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: -70_000, max: 90_000 }) },
    ),
    limit: fc.constantFrom(1, 3, 20, 20, 20),
  }),
  { minLength: 50, maxLength: 250 },
);

test('answers as a list of times would, for any requests, limits and clocks', () => {
  fc.assert(
    fc.property(requests, (list) => {
      const window = new SlidingWindow(WIDE_WINDOW);
      const naive = new NaiveWindow();
      let at = 5_000_000;
      for (const { subject, step, limit } of list) {
        at += step;
        const looked = window.look(subject, limit, at);
        const taken = window.take(subject, limit, at);
        const expected = naive.take(subject, limit, at);
        assert.is(looked.allowed, expected.allowed);
        assert.is(taken.allowed, expected.allowed);
        assert.is(taken.remaining, expected.remaining);
        const seconds = Math.ceil((expected.freesAt ?? 0) / 1000);
        assert.is(taken.resetSeconds, seconds);
        assert.is(taken.retryAfterSeconds, expected.allowed ? 0 : Math.max(1, seconds));
      }
    }),
    { numRuns: 300 },
  );
});

test('a new subject that finds the table full of idle ones has times of its own', () => {
  const window = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: 4 });
  for (const subject of ['a', 'b', 'c', 'd']) window.take(subject, 9, 0);
  for (const busy of ['a', 'b']) window.take(busy, 9, MINUTE_MS / 2);
  assert.ok(window.take('e', 1, MINUTE_MS).allowed);
  assert.is(window.subjects, 3, 'c and d are forgotten');
});

test('no span of a minute holds more than the limit, and a slot is free the moment a minute is over', () => {
  const window = new SlidingWindow(WIDE_WINDOW);
  for (let i = 0; i < 60; i++) assert.ok(window.take('a', 60, i * 100).allowed);
  assert.not(window.take('a', 60, MINUTE_MS - 1).allowed);
  assert.ok(window.take('a', 60, MINUTE_MS).allowed);
  assert.not(window.take('a', 60, MINUTE_MS).allowed);
  assert.ok(window.take('a', 60, MINUTE_MS + 100).allowed);
});

test('a refused request is told the second at which it will not be', () => {
  const window = new SlidingWindow(WIDE_WINDOW);
  window.take('a', 2, 1_000);
  window.take('a', 2, 5_000);
  const { retryAfterSeconds } = window.take('a', 2, 11_500);
  assert.is(retryAfterSeconds, 50);
  assert.not(window.look('a', 2, 11_500 + (retryAfterSeconds - 1) * 1000).allowed);
  assert.ok(window.look('a', 2, 11_500 + retryAfterSeconds * 1000).allowed);
});

test('no time of a clock with fractions makes a window longer than it is', () => {
  for (const at of [0.1, 1_234.567, 78_901.234_567, 1e9 + 1 / 3]) {
    assert.is(new SlidingWindow(WIDE_WINDOW).take('a', 1, at).resetSeconds, MINUTE_MS / 1000, String(at));
  }
});

test('a limit that was lowered frees a slot only when enough is past', () => {
  const window = new SlidingWindow(WIDE_WINDOW);
  for (let i = 0; i < 10; i++) window.take('a', 10, i * 1000);
  const refused = window.take('a', 3, 10_000);
  assert.not(refused.allowed);
  // The eighth request leaves the window at 67 s.
  assert.is(refused.retryAfterSeconds, 57);
});

test('idle subjects are forgotten', () => {
  const window = new SlidingWindow(WIDE_WINDOW);
  for (let i = 0; i < 500; i++) window.take(`subject ${i}`, 5, i);
  assert.is(window.subjects, 500);
  for (let i = 0; i < 600; i++) window.take('busy', 10_000, MINUTE_MS * 2 + i);
  assert.ok(window.subjects <= 2, `${window.subjects} are known`);
});

const crowd = fc.array(
  fc.record({
    subject: fc.integer({ min: 0, max: 14 }),
    // Mostly a throng, now and then a pause in which some fall idle.
    step: fc.oneof(
      { weight: 30, arbitrary: fc.integer({ min: 0, max: 500 }) },
      { weight: 1, arbitrary: fc.integer({ min: 30_000, max: 61_000 }) },
    ),
  }),
  { minLength: 100, maxLength: 400 },
);

test('a flood of subjects is bounded in memory and lets none pass its limit', () => {
  fc.assert(
    fc.property(crowd, (list) => {
      const window = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: 4 });
      const naive = new NaiveWindow();
      let at = 0;
      for (const { subject, step } of list) {
        at += step;
        const { allowed } = window.take(`subject ${subject}`, 3, at);
        assert.ok(window.subjects <= 4);
        // The naive window counts what was let through alone.
        if (allowed) assert.ok(naive.take(`subject ${subject}`, 3, at).allowed, `${subject} passed its limit at ${at}`);
      }
    }),
    { numRuns: 200 },
  );
});

test('a subject that shared a window takes its times along into one of its own', () => {
  const window = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: 1 });
  window.take('first', 3, 0);
  for (let i = 0; i < 3; i++) assert.ok(window.take('second', 3, 50_000).allowed);
  assert.not(window.take('second', 3, 50_000).allowed);
  // The first is idle by now, and the second takes its place.
  assert.not(window.take('second', 3, 61_000).allowed);
  assert.is(window.subjects, 1);
  assert.ok(window.take('second', 3, 110_000).allowed);
});

test('a subject known before a flood keeps a window of its own', () => {
  const window = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: 50 });
  window.take('early', 120, 0);
  for (let i = 0; i < 20_000; i++) window.take(`flood ${i}`, 120, 10 + i / 1000);
  for (let i = 0; i < 119; i++) assert.ok(window.take('early', 120, 40).allowed);
  assert.not(window.take('early', 120, 40).allowed);
});

test('a slot that is given back is free at once, and no more than were taken', () => {
  const window = new SlidingWindow(WIDE_WINDOW);
  for (let n = 0; n < 3; n++) assert.ok(window.take('a', 3, n).allowed);
  assert.not(window.take('a', 3, 3).allowed);
  window.giveBack('a');
  window.giveBack('b');
  assert.equal([window.take('a', 3, 4).allowed, window.take('a', 3, 5).allowed], [true, false]);
  for (let n = 0; n < 5; n++) window.giveBack('a');
  assert.is(window.take('a', 3, 6).remaining, 2);
});

test.run();
