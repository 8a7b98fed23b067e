import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Tier, TIERS } from '../../../../node/accounts/account.ts';
import { FreeLimits } from '../../../../node/accounts/limits/address-limits.ts';
import { ENDPOINT_LIMITS, permanentBytesPerDay, TIER_LIMITS } from '../../../../node/accounts/limits/allowances.ts';
import { RateLimits } from '../../../../node/accounts/limits/rate-limits.ts';
import { RequestLimits } from '../../../../node/accounts/limits/request-limits.ts';
import {
  ENTRY_BYTES,
  LARGEST_RECORD_BYTES,
  LARGEST_VERSION_BYTES,
  requestsOf,
  weightOf,
} from '../../../../node/accounts/limits/route-weights.ts';
import { MAX_BODY_BYTES } from '../../../../node/http/body.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { fc } from '../../../fixtures/properties.ts';
import { draftOf, temporaryDirectory } from '../../intake/intake-fixture.ts';
import { UsageFixture } from './usage-fixture.ts';

const EVENING = Date.UTC(2026, 10, 21, 20);
const MINUTE_MS = 60_000;

/** Routes of every weight and every limit: the others weigh what one of these does (`openapi/document.test.ts`). */
const ROUTES = [
  { method: 'POST', path: '/v1/attest', access: 'key', records: 1 },
  { method: 'POST', path: '/v1/tiered-attest', access: 'key', records: 1 },
  { method: 'POST', path: '/v1/tiered-attest-batch', access: 'key', records: 40 },
  { method: 'GET', path: '/v1/status/:id', access: 'key', records: 0 },
  { method: 'GET', path: '/v1/bundles/:id', access: 'key', records: 0 },
  { method: 'GET', path: '/v1/audit-log', access: 'key', records: 0 },
  { method: 'GET', path: '/v1/verify/:id', access: 'free', records: 0 },
  { method: 'GET', path: '/v1/proofs/:id', access: 'free', records: 0 },
  { method: 'POST', path: '/v1/bundles/verify', access: 'free', records: 0 },
  { method: 'GET', path: '/v1/federation', access: 'free', records: 0 },
] as const;

/** What api-rules §8 lets an account do, counted as simply as can be. */
class SpecLimits {
  readonly #times: { readonly endpoint: string; readonly at: number }[] = [];
  #records = 0;

  readonly #tier: Tier;

  constructor(tier: Tier) {
    this.#tier = tier;
  }

  isWithin(endpoint: string, records: number, at: number): boolean {
    const { requestsPerMinute, recordsPerDay } = TIER_LIMITS[this.#tier];
    const last = this.#times.filter((one) => one.at > at - MINUTE_MS);
    const narrow = this.#tier === 'unmetered' ? undefined : ENDPOINT_LIMITS[endpoint]?.requestsPerMinute;
    const isWithin =
      last.length < (requestsPerMinute ?? Number.POSITIVE_INFINITY) &&
      last.filter((one) => one.endpoint === endpoint).length < (narrow ?? Number.POSITIVE_INFINITY) &&
      this.#records + records <= (recordsPerDay ?? Number.POSITIVE_INFINITY);
    if (!isWithin) return false;
    this.#times.push({ endpoint, at });
    this.#records += records;
    return true;
  }
}

test('within api-rules §8 no account is answered 429, of whatever tier, whatever it asks for and however fast', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await UsageFixture.open(directory.path, { now: () => EVENING });
  let accounts = 0;
  const burst = fc.record({
    route: fc.constantFrom(...ROUTES),
    count: fc.integer({ min: 1, max: 130 }),
    pauseMs: fc.constantFrom(0, 1, 900, 30_000, 59_999, 60_000),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TIERS),
      fc.array(burst, { minLength: 1, maxLength: 12 }),
      async (tier, bursts) => {
        const account = { id: `account ${accounts++}`, tier };
        const spec = new SpecLimits(tier);
        let now = 0;
        const free = new FreeLimits(() => now);
        const keyed = new RequestLimits(new RateLimits(() => now), fixture.usage);
        for (const { route, count, pauseMs } of bursts) {
          now += pauseMs;
          const endpoint = `${route.method} ${route.path}`;
          for (let i = 0; i < count; i++) {
            if (!spec.isWithin(endpoint, route.records, now)) continue;
            if (route.access === 'free') free.admit(account, requestsOf(weightOf(route)));
            else await keyed.admit(account, endpoint, route.records);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('a day of records as large as they may be is within what an account may leave for ever', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await UsageFixture.open(directory.path);
  let rows = 0;
  const write = fixture.store.write.bind(fixture.store);
  fixture.store.write = (operations) => {
    for (const operation of operations) {
      rows += operation.key.length + ('value' in operation ? operation.value.length : 0);
    }
    return write(operations);
  };
  const payload = canonicalize({ mitigations: 'x'.repeat(MAX_BODY_BYTES - 64) });
  await fixture.intake.submit({ ...draftOf('s'.repeat(256)), payload });
  assert.ok(rows > payload.length, `${rows} bytes are not all that was written`);
  assert.ok(rows <= LARGEST_RECORD_BYTES, `${rows} bytes`);
  assert.is(
    permanentBytesPerDay('developer'),
    1_000 * LARGEST_RECORD_BYTES + 60 * 1_440 * ENTRY_BYTES + 1_460 * LARGEST_VERSION_BYTES,
  );
  assert.is(permanentBytesPerDay('enterprise'), null);
});

test.run();
