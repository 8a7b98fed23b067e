import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { type LimitedAccount, RateLimits } from '../../../../node/accounts/limits/rate-limits.ts';
import { type Admission, RequestLimits } from '../../../../node/accounts/limits/request-limits.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';
import { UsageFixture } from './usage-fixture.ts';

const ATTEST = 'POST /v1/attest';
const STATUS = 'GET /v1/status/:id';
const DEVELOPER: LimitedAccount = { id: 'acme', tier: 'developer' };
const EVENING = Date.UTC(2026, 10, 21, 23);

interface Limits {
  readonly limits: RequestLimits;
  readonly fixture: UsageFixture;
  /** Moves the steady clock, in milliseconds. */
  readonly pass: (milliseconds: number) => void;
}

async function withLimits(use: (limits: Limits) => Promise<void>): Promise<void> {
  await using directory = await temporaryDirectory();
  await using fixture = await UsageFixture.open(directory.path, { now: () => EVENING });
  let steady = 0;
  const limits = new RequestLimits(new RateLimits(() => steady), fixture.usage);
  await use({ limits, fixture, pass: (milliseconds) => void (steady += milliseconds) });
}

async function refusalOf(admission: Promise<Admission | void>): Promise<LimitError> {
  try {
    await admission;
  } catch (error) {
    if (error instanceof LimitError) return error;
    throw error;
  }
  throw new Error('it was let in');
}

test('an admitted request carries where it stands in the minute and the day', () =>
  withLimits(async ({ limits }) => {
    const admission = await limits.admit(DEVELOPER, ATTEST, 1);
    assert.equal(admission.headers(), {
      'RateLimit-Limit': '60',
      'RateLimit-Remaining': '59',
      'RateLimit-Reset': '60',
      'X-Daily-Limit': '1000',
      'X-Daily-Remaining': '999',
    });
  }));

test('a request that makes no record takes nothing of the day, and shows it', () =>
  withLimits(async ({ limits, fixture }) => {
    await fixture.record('acme', 1_000);
    const admission = await limits.admit(DEVELOPER, STATUS, 0);
    assert.is(admission.headers()['X-Daily-Remaining'], '0');
  }));

test('a request that turns out to make more holds room for all of it, or for nothing', () =>
  withLimits(async ({ limits, fixture }) => {
    await fixture.record('acme', 400);
    const admission = await limits.admit(DEVELOPER, ATTEST, 1);
    const other = await limits.admit(DEVELOPER, ATTEST, 1);
    await admission.reserve(500);
    assert.is(other.headers()['X-Daily-Remaining'], '99');
    const refused = await refusalOf(other.reserve(101));
    assert.equal([refused.code, refused.headers['X-Daily-Remaining']], ['daily-cap-exceeded', '100']);
    await other.reserve(100);
    assert.is(admission.headers()['X-Daily-Remaining'], '0');
    admission.release();
    assert.is(other.headers()['X-Daily-Remaining'], '500');
  }));

test('a request that may be a repeat is let in where the day is full, and to record something refused then', () =>
  withLimits(async ({ limits, fixture }) => {
    await fixture.record('acme', 1_001);
    const admission = await limits.admit(DEVELOPER, ATTEST, 'later');
    assert.is(admission.headers()['X-Daily-Remaining'], '0');
    assert.is((await refusalOf(admission.reserve(1))).code, 'daily-cap-exceeded');
  }));

test('a tier without limits has no headers of them', () =>
  withLimits(async ({ limits }) => {
    const unmetered = await limits.admit({ id: 'bench', tier: 'unmetered' }, ATTEST, 1);
    assert.equal(unmetered.headers(), {});
    const enterprise = await limits.admit({ id: 'big', tier: 'enterprise' }, ATTEST, 1);
    assert.equal(Object.keys(enterprise.headers()), ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']);
  }));

test('a request that recorded nothing gives its place in the day back', () =>
  withLimits(async ({ limits, fixture }) => {
    const admission = await limits.admit(DEVELOPER, ATTEST, 1);
    admission.release();
    assert.is(admission.headers()['X-Daily-Remaining'], '1000');
    const second = await limits.admit(DEVELOPER, ATTEST, 1);
    await fixture.record('acme', 1);
    second.release();
    assert.is(second.headers()['X-Daily-Remaining'], '999');
  }));

test('the minute, the endpoint and the day refuse under codes of their own', () =>
  withLimits(async ({ limits, fixture, pass }) => {
    const standard: LimitedAccount = { id: 'std', tier: 'standard' };
    for (let i = 0; i < 60; i++) (await limits.admit(standard, ATTEST, 1)).release();
    const endpoint = await refusalOf(limits.admit(standard, ATTEST, 1));
    assert.is(endpoint.code, 'endpoint-limit-exceeded');
    assert.match(endpoint.message, '/v1/tiered-attest');
    assert.is(endpoint.headers['Retry-After'], '60');

    for (let i = 0; i < 60; i++) (await limits.admit(DEVELOPER, STATUS, 0)).release();
    pass(20_000);
    const minute = await refusalOf(limits.admit(DEVELOPER, STATUS, 0));
    assert.is(minute.code, 'rate-limited');
    assert.equal(minute.headers, {
      'RateLimit-Limit': '60',
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': '40',
      'Retry-After': '40',
    });

    pass(60_000);
    await fixture.record('acme', 1_000);
    const day = await refusalOf(limits.admit(DEVELOPER, ATTEST, 1));
    assert.is(day.code, 'daily-cap-exceeded');
    assert.is(day.headers['Retry-After'], '3600');
    assert.is(day.headers['X-Daily-Remaining'], '0');
    assert.is(day.headers['RateLimit-Remaining'], '59');
  }));

test('a refused request holds nothing of the day', () =>
  withLimits(async ({ limits, fixture }) => {
    for (let i = 0; i < 60; i++) (await limits.admit(DEVELOPER, ATTEST, 1)).release();
    for (let i = 0; i < 100; i++) await refusalOf(limits.admit(DEVELOPER, ATTEST, 1));
    assert.is((await fixture.usage.standing(DEVELOPER))?.remaining, 1_000);
  }));

test.run();
