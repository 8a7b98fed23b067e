import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressLimits } from '../../../../node/accounts/limits/address-limits.ts';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';

function refusal(limits: AddressLimits, address: string): LimitError | undefined {
  try {
    limits.admit(address);
    return undefined;
  } catch (error) {
    if (error instanceof LimitError) return error;
    throw error;
  }
}

test('an address has 120 requests a minute, and its neighbours theirs', () => {
  let now = 0;
  const limits = new AddressLimits({ now: () => now });
  for (let i = 0; i < 120; i++) assert.is(limits.admit('192.0.2.1').remaining, 119 - i);
  now = 15_000;
  const refused = refusal(limits, '192.0.2.1');
  assert.is(refused?.code, 'rate-limited');
  assert.equal(refused?.headers, {
    'RateLimit-Limit': '120',
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': '45',
    'Retry-After': '45',
  });
  assert.is(refusal(limits, '192.0.2.2'), undefined);
  now = 60_000;
  assert.is(refusal(limits, '192.0.2.1'), undefined);
});

test('a caller who takes a new IPv6 address of its network for each request is still one caller', () => {
  const limits = new AddressLimits({ now: () => 0 });
  let admitted = 0;
  for (let i = 0; i < 500; i++) if (refusal(limits, `2001:db8:1:2::${i.toString(16)}`) === undefined) admitted++;
  assert.is(admitted, 120);
});

test('a flood of 200,000 addresses takes bounded memory, and a busy known caller is served meanwhile', () => {
  let now = 0;
  const limits = new AddressLimits({ now: () => now, maxAddresses: 2_000 });
  limits.admit('198.51.100.1');
  let served = 0;
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 200_000; i++) {
    now += 0.25;
    refusal(limits, `${i & 255}.${(i >> 8) & 255}.${(i >> 16) & 255}.${(i * 7) & 255}`);
    if (i % 2_000 === 0 && refusal(limits, '198.51.100.1') === undefined) served++;
  }
  const grownMiB = (process.memoryUsage().rss - before) / (1 << 20);
  assert.is(served, 100);
  assert.ok(limits.addresses <= 2_000);
  assert.ok(grownMiB < 100, `grew by ${grownMiB.toFixed(0)} MiB`);
});

test.run();
