import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readFeedDate } from '../../../../node/services/regulatory-feed/feed-date.ts';
import { fc } from '../../../fixtures/properties.ts';

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function iso(text: string, timeZone?: string): string | null {
  const date = readFeedDate(text, timeZone);
  return date === null ? null : new Date(date.at).toISOString();
}

test('every form that regulators write is read', () => {
  assert.is(iso('Tue, 30 Jun 2026 00:00:00 +0200'), '2026-06-29T22:00:00.000Z');
  assert.is(iso('Tue, 30 Jun 2026 09:00 EDT'), '2026-06-30T13:00:00.000Z');
  assert.is(iso('5 Sep 02 00:00:01 GMT'), '2002-09-05T00:00:01.000Z');
  assert.is(iso('2026-09-10T10:25:31+02:00'), '2026-09-10T08:25:31.000Z');
  assert.is(iso('2026-09-10T10:25Z'), '2026-09-10T10:25:00.000Z');
  assert.is(iso('2026-09-10'), '2026-09-10T00:00:00.000Z');
});

test('a plain day keeps its day, and so does local midnight', () => {
  assert.is(readFeedDate('Tue, 30 Jun 2026 00:00:00 +0200')?.day, '2026-06-30');
  assert.is(readFeedDate('2026-06-20')?.day, '2026-06-20');
});

test('a time without zone is that of the source: in London in summer and in winter; without one it is no date', () => {
  assert.is(iso('Monday, July 27, 2026 - 15:30', 'Europe/London'), '2026-07-27T14:30:00.000Z');
  assert.is(iso('Friday, November 20, 2026 - 15:30', 'Europe/London'), '2026-11-20T15:30:00.000Z');
  assert.is(iso('Monday, July 27, 2026 - 15:30'), null);
  assert.is(iso('2026-07-27T15:30:00'), null);
});

test('of a time that a zone has twice the later is taken, and one that it passes over is as if it did not', () => {
  const at = (text: string, zone: string) => new Date(readFeedDate(text, zone)?.at ?? 0).toISOString();
  for (const [zone, twice, later, skipped, unchanged] of [
    ['Europe/London', '2026-10-25 01:30', '2026-10-25T01:30', '2026-03-29 01:30', '2026-03-29T01:30'],
    ['America/New_York', '2026-11-01 01:30', '2026-11-01T06:30', '2026-03-08 02:30', '2026-03-08T07:30'],
    ['Australia/Sydney', '2026-04-05 02:30', '2026-04-04T16:30', '2026-10-04 02:30', '2026-10-03T16:30'],
  ] as const) {
    assert.is(at(twice, zone), `${later}:00.000Z`, zone);
    assert.is(at(skipped, zone), `${unchanged}:00.000Z`, zone);
  }
  assert.is(at('2026-11-01 00:59', 'America/New_York'), '2026-11-01T04:59:00.000Z');
  assert.is(at('2026-11-01 02:00', 'America/New_York'), '2026-11-01T07:00:00.000Z');
});

test('what is no date is none, however near it comes', () => {
  for (const text of ['', 'yesterday', '31 Feb 2026 00:00 GMT', '2026-13-01', '2026-02-30', '30 Jun 2026 25:00 GMT']) {
    assert.is(iso(text), null, text);
  }
  assert.is(iso('30 Jun 2026 10:00 XYZ'), null);
  assert.is(iso(`${' '.repeat(100)}x${'9'.repeat(100_000)}`), null);
});

test('any time that is written as RFC 822 comes back, under any weekday', () => {
  const times = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2090, 0) });
  fc.assert(
    fc.property(
      times,
      fc.constantFrom(...WEEKDAYS),
      fc.integer({ min: -14 * 60, max: 14 * 60 }),
      (time, weekday, offset) => {
        const at = Math.floor(time / 1000) * 1000;
        const [local, sign, minutes] = [new Date(at + offset * 60_000), offset < 0 ? '-' : '+', Math.abs(offset)];
        const zone = String(Math.floor(minutes / 60) * 100 + (minutes % 60)).padStart(4, '0');
        const clock = local.toISOString().slice(11, 19);
        const day = `${local.getUTCDate()} ${MONTHS[local.getUTCMonth()]} ${local.getUTCFullYear()}`;
        assert.is(readFeedDate(`${weekday}, ${day} ${clock} ${sign}${zone}`)?.at, at);
      },
    ),
  );
});

test.run();
