import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../fixtures/until.ts';
import { LISTS, paid, type PaidHttpAnswer, PaidFixture } from './paid-fixture.ts';

/** What a refused answer says in short. */
function told({ status, body }: PaidHttpAnswer): string {
  return `${status} ${String(body.code ?? 'answered')}`;
}

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
