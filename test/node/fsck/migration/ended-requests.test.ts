import { dirname } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endFormerRequests } from '../../../../node/fsck/migration/ended-requests.ts';
import { openNodeStore } from '../../../../node/fsck/migration/migrate-store.ts';
import { PaymentCipher } from '../../../../node/payments/payment-cipher.ts';
import { paymentAnswerTable, paymentEndTable, paymentTable } from '../../../../node/payments/payment-tables.ts';
import { formatTable, STORE_FORMAT } from '../../../../node/store/format.ts';
import { Store } from '../../../../node/store/store.ts';
import { callOf, NODE, PAYLOAD_KEY, PaymentFixture, sha } from '../../payments/payment-fixture.ts';
import { asBefore, filesTelling, rowsHolding } from '../../payments/stored-requests.ts';

const [ENDED, HELD] = ['ended', 'held'];
const cipher = new PaymentCipher(PAYLOAD_KEY);

/** Two payments as the release before left them: the answer of the first has ended, that of the second is held. */
async function formerPayments(): Promise<PaymentFixture> {
  const fixture = await PaymentFixture.open();
  await fixture.take(callOf({ nonce: 1, identifier: 'pay_0123456789abcdef', request: ENDED }));
  const { store } = fixture.opened;
  await store.write([formatTable.put(['store'], STORE_FORMAT)]);
  const [[parts, { ends }] = [[], { ends: null }]] = await Array.fromAsync(paymentTable.under(store, []));
  assert.ok(ends !== null);
  await store.write([paymentAnswerTable.del(...parts), paymentEndTable.del(ends, ...parts)]);
  await fixture.take(callOf({ nonce: 2, request: HELD }));
  for (const [request, rows] of [
    [ENDED, 2],
    [HELD, 1],
  ] as const) {
    assert.is(await asBefore(store, cipher, sha(request)), rows);
  }
  // What was written so far comes into a table, which a row that is written again stays in.
  await fixture.restart();
  return fixture;
}

test('the first start takes the requests of ended payments out of rows and files, and leaves those that are held', async () => {
  await using fixture = await formerPayments();
  const directory = fixture.storeDirectory;
  await fixture.stop();
  assert.ok((await filesTelling(directory, sha(ENDED))).length > 0);
  for (let start = 0; start < 2; start++) {
    await using store = await openNodeStore(dirname(directory), { node: NODE });
    assert.equal(await rowsHolding(store, sha(ENDED)), []);
    assert.equal(await filesTelling(directory, sha(ENDED)), []);
    assert.is((await rowsHolding(store, sha(HELD))).length, 1);
  }
  await fixture.start();
  assert.is(
    await fixture.answer(callOf({ nonce: 1, identifier: 'pay_0123456789abcdef', request: ENDED })),
    'answer-ended',
  );
  assert.type(await fixture.answer(callOf({ nonce: 2, request: HELD })), 'object');
  assert.is(fixture.chain.settles, 2);
});

test('a purge that cannot be made holds up no start, a row that does not read neither', async () => {
  await using fixture = await formerPayments();
  await fixture.stop();
  await using store = await Store.open(fixture.storeDirectory);
  await store.write([{ type: 'put', key: `${paymentTable.name}/0`, value: Buffer.from('{}') }]);
  store.purge = () => Promise.reject(new Error('reads from before are not over'));
  const told: unknown[] = [];
  await endFormerRequests(store, { info: (facts: unknown) => void told.push(facts) });
  assert.is(told.length, 1);
  assert.equal(await rowsHolding(store, sha(ENDED)), []);
});

test.run();
