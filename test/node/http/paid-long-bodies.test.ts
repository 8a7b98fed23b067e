import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../fixtures/until.ts';
import { LISTS, paid, PaidFixture, told } from './paid-fixture.ts';

/** By then a request has been read, and the watch that looks five times a second whether it is wanted has looked. */
const HANG_UP_MS = 500;

for (const step of ['prepare', 'make'] as const) {
  test(`of bodies that may be long one at a time is checked or made into records, and no other call waits: ${step}`, async () => {
    await using fixture = await PaidFixture.open();
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun: number[] = [];
    let under = 0;
    fixture[step] = async () => {
      begun.push(++under);
      await promise;
      under--;
    };
    const buy = (nonce: number) => fixture.ask(LISTS, { body: { notes: [nonce] }, headers: paid(LISTS, { nonce }) });
    const bought = [1, 2, 3].map(buy);
    await until('one to be begun', () => begun.length > 0);
    assert.is((await fixture.buy('hello', { nonce: 9 })).status, 200);
    resolve();
    assert.equal((await Promise.all(bought)).map(told), ['200 answered', '200 answered', '200 answered']);
    assert.equal(begun, [1, 1, 1]);
  });
}

for (const [isChecked, waits] of [
  [false, 'to be checked'],
  [true, 'to be made into records'],
] as const) {
  test(`who hangs up while it waits ${waits} is not made into records, and not charged`, async () => {
    await using fixture = await PaidFixture.open();
    const { chain } = fixture.fixture;
    const checking = Promise.withResolvers<void>();
    const making = Promise.withResolvers<void>();
    const counts = { checked: 0, made: 0 };
    fixture.prepare = () => (counts.checked++ === 0 ? checking.promise : Promise.resolve());
    fixture.make = () => (counts.made++ === 0 ? making.promise : Promise.resolve());
    const hangingUp = new AbortController();
    const buy = (nonce: number, signal = new AbortController().signal) =>
      fixture.ask(LISTS, { body: { notes: [nonce] }, headers: paid(LISTS, { nonce }), signal });
    const first = buy(1);
    await until('the first to be checked', () => counts.checked === 1);
    if (!isChecked) {
      checking.resolve();
      await until('the first to have its turn', () => counts.made === 1);
    }
    const second = buy(2, hangingUp.signal).catch(() => undefined);
    await until('the second to be let in', () => chain.signatureChecks === 2);
    await delay(HANG_UP_MS);
    checking.resolve();
    await until('the first to have its turn', () => counts.made === 1);
    hangingUp.abort();
    await second;
    await delay(HANG_UP_MS);
    making.resolve();
    assert.is(told(await first), '200 answered');
    await fixture.fixture.opened.payments.idle();
    assert.equal([counts.made, chain.settles], [1, 1]);
    assert.is(counts.checked, 2);
  });
}

test('items of a long body are handed over one by one, and again once the wallet is known to have the money', async () => {
  await using fixture = await PaidFixture.open();
  const seen: unknown[] = [];
  fixture.prepare = (body, items) => {
    seen.push(body);
    return items.each((item, index) => void seen.push(['checked', index, item]));
  };
  fixture.make = (items) => items.each((item, index) => void seen.push(['made', index, item]));
  const body = { name: 'n', notes: [{ a: 1 }, 'b'] };
  const { chain } = fixture.fixture;
  const { funds } = chain;
  chain.funds = 0;
  const refused = await fixture.ask(LISTS, { body, headers: paid(LISTS) });
  assert.equal([told(refused), refused.body.reason], ['402 payment-refused', 'open_authorizations_exceed_balance']);
  const checked = [{ name: 'n', notes: [0, 0] }, ['checked', 0, { a: 1 }], ['checked', 1, 'b']];
  assert.equal(seen.splice(0), checked);
  chain.funds = funds;
  assert.is(told(await fixture.ask(LISTS, { body, headers: paid(LISTS) })), '200 answered');
  assert.equal(seen, [...checked, ['made', 0, { a: 1 }], ['made', 1, 'b']]);
});

test.run();
