import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isConsensusTimestamp,
  isTimestamp,
  readRfc3339,
  TimeError,
  cappedTimestampOf,
  timestampOf,
  timestampOfConsensus,
} from '../../protocol/time.ts';
import { fc } from '../fixtures/properties.ts';

const YEAR_0000_MS = -62_167_219_200_000;
const YEAR_9999_END_MS = 253_402_300_799_999;
const isTimeError = (error: unknown) => error instanceof TimeError;

test('every millisecond of the years 0000 to 9999 has one signed form, which reads back', () => {
  fc.assert(
    fc.property(fc.integer({ min: YEAR_0000_MS, max: YEAR_9999_END_MS }), (at) => {
      const text = timestampOf(at);
      assert.ok(isTimestamp(text));
      assert.is(readRfc3339(text), at);
    }),
  );
});

test('the signed form orders as time does', () => {
  const instant = fc.integer({ min: YEAR_0000_MS, max: YEAR_9999_END_MS });
  fc.assert(fc.property(instant, instant, (a, b) => assert.is(timestampOf(a) < timestampOf(b), a < b)));
});

test('only the one form is signed', () => {
  assert.ok(isTimestamp('2026-11-21T09:30:00.000Z'));
  for (const text of [
    '',
    '2026-11-21T09:30:00Z',
    '2026-11-21T09:30:00.0000Z',
    '2026-11-21T09:30:00.000z',
    '2026-11-21t09:30:00.000Z',
    '2026-11-21 09:30:00.000Z',
    '2026-11-21T09:30:00.000+00:00',
    '2026-02-30T00:00:00.000Z',
    '2025-02-29T00:00:00.000Z',
    '2026-11-21T24:00:00.000Z',
    '2026-11-21T23:59:60.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-11-21T09:30:00.000Z\n',
    '+002026-11-21T09:30:00.000Z',
  ]) {
    assert.not(isTimestamp(text), text);
  }
});

test('times that the signed form cannot hold are refused', () => {
  for (const at of [YEAR_0000_MS - 1, YEAR_9999_END_MS + 1, 1e20, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => timestampOf(at), isTimeError, String(at));
  }
});

test('the end of a period is at most the last moment of the signed form, and never before the first', () => {
  const last = '9999-12-31T23:59:59.999Z';
  for (const at of [YEAR_9999_END_MS, YEAR_9999_END_MS + 1, 1e20, Number.POSITIVE_INFINITY]) {
    assert.is(cappedTimestampOf(at), last);
  }
  assert.is(cappedTimestampOf(YEAR_9999_END_MS - 1), timestampOf(YEAR_9999_END_MS - 1));
  for (const at of [YEAR_0000_MS - 1, Number.NaN]) assert.throws(() => cappedTimestampOf(at), isTimeError, String(at));
});

test('reads any RFC 3339 time to the millisecond below', () => {
  const cases: readonly [string, string][] = [
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.1Z', '2026-11-21T09:30:00.100Z'],
    ['2026-11-21T09:30:00.123999999Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21t09:30:00z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00+02:00', '2026-11-21T07:30:00.000Z'],
    ['2026-11-21T23:30:00.5-02:30', '2026-11-22T02:00:00.500Z'],
    ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
  ];
  for (const [text, expected] of cases) assert.is(timestampOf(readRfc3339(text)), expected, text);
});

test('a leap second is the second after it, and there is none but at the end of a month of UTC', () => {
  const cases: readonly [string, string][] = [
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2015-06-30T23:59:60.25Z', '2015-07-01T00:00:00.250Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
    ['2017-01-01T08:59:60+09:00', '2017-01-01T00:00:00.000Z'],
  ];
  for (const [text, expected] of cases) assert.is(timestampOf(readRfc3339(text)), expected, text);
  for (const text of [
    '2016-12-30T23:59:60Z',
    '2016-12-31T23:58:60Z',
    '2016-12-31T12:59:60Z',
    '2016-12-31T23:59:61Z',
    '2016-12-31T23:59:60-01:00',
  ]) {
    assert.throws(() => readRfc3339(text), isTimeError, text);
  }
});

test('refuses what is not RFC 3339, and dates that do not exist', () => {
  for (const text of [
    'now',
    '2026-11-21',
    '2026-11-21T09:30Z',
    '2026-11-21T09:30:00',
    '2026-11-21T09:30:00.Z',
    '2026-11-21T09:30:00.0123456789Z',
    '2026-02-30T09:30:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T09:30:00+24:00',
    '2026-11-21T09:30:00+01:60',
    '2026-11-21T09:30:00+0100',
    ' 2026-11-21T09:30:00Z',
    '2026-11-21T09:30:00Z\n',
  ]) {
    assert.throws(() => readRfc3339(text), isTimeError, text);
  }
});

test('a consensus time has exactly nine decimals and no leading zero', () => {
  const right = ['0.000000000', '1763717400.000000001', '99999999999.999999999'];
  for (const text of right) assert.ok(isConsensusTimestamp(text), text);
  for (const text of [
    '1',
    '1.0',
    '01.000000000',
    '1.0000000000',
    '-1.000000000',
    '1.00000000a',
    '1763717400-000000001',
  ]) {
    assert.not(isConsensusTimestamp(text), text);
  }
});

test('every consensus time has a signed form, cut to the millisecond', () => {
  fc.assert(
    fc.property(fc.nat({ max: 99_999_999_999 }), fc.nat({ max: 999_999_999 }), (seconds, nanos) => {
      const text = `${seconds}.${String(nanos).padStart(9, '0')}`;
      assert.ok(isConsensusTimestamp(text));
      assert.is(readRfc3339(timestampOfConsensus(text)), seconds * 1000 + Math.floor(nanos / 1e6));
    }),
  );
});

test.run();
