import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { answerDraft } from '../../../node/payments/answer-draft.ts';
import { PaymentDamagedError } from '../../../node/payments/payment-cipher.ts';
import { keyParts, paymentKey } from '../../../node/payments/payment-key.ts';
import { paymentDraftTable } from '../../../node/payments/payment-tables.ts';
import { preparedRow } from '../../../node/payments/prepared-rows.ts';
import { preparedKeyTable } from '../../../node/records/payload/payload-keys.ts';
import { joinFrames, splitFrames } from '../../../node/store/frames.ts';
import { HONEST } from './fake-chain.ts';
import { callOf, PaymentFixture } from './payment-fixture.ts';

/** A payment whose settlement was refused, so that its two records are prepared and not made. */
async function held(fixture: PaymentFixture) {
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  const { payment, terms } = callOf();
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  const key = paymentKey(payment.authorization, terms);
  const row = await fixture.opened.paymentStore.read(key);
  if (row === undefined) throw new Error('no row');
  return { key, row };
}

test('what is prepared for a payment is there whole, or is damaged', async () => {
  await using fixture = await PaymentFixture.open();
  const { store, paymentStore } = fixture.opened;
  const payment = await held(fixture);
  const [first, second, ...more] = await paymentStore.preparedOf(payment);
  if (first === undefined || second === undefined) throw new Error('two are prepared');
  assert.equal([more, payment.row.drafts], [[], 2]);
  const seed = preparedKeyTable.key(first.id);
  const value = await store.get(seed);
  await store.write([{ type: 'del', key: seed }]);
  await damaged(paymentStore.preparedOf(payment));
  await store.write([{ type: 'put', key: seed, value: value ?? new Uint8Array() }]);
  assert.is((await paymentStore.preparedOf(payment)).length, 2);
  await store.write([paymentDraftTable.del(...keyParts(payment.key), 1)]);
  await damaged(paymentStore.preparedOf(payment));
});

test('a row of a prepared record is its head and its ciphertext, and nothing else', async () => {
  await using fixture = await PaymentFixture.open();
  const { key } = await held(fixture);
  const bytes = await paymentDraftTable.get(fixture.opened.store, ...keyParts(key), 0);
  const [head, ciphertext] = splitFrames(bytes ?? new Uint8Array());
  if (head === undefined || ciphertext === undefined) throw new Error('two frames');
  assert.equal(preparedRow(joinFrames([head, ciphertext])).ciphertext, ciphertext);
  for (const frames of [
    [],
    [head],
    [head, ciphertext, ciphertext],
    [head, ciphertext, new Uint8Array()],
    [ciphertext, head],
  ]) {
    assert.throws(
      () => preparedRow(joinFrames(frames)),
      (error: unknown) => error instanceof PaymentDamagedError,
    );
  }
});

test('an answer that is held is a body and the places that are still blank, or is damaged', () => {
  const body = { success: true };
  assert.equal(answerDraft({ body, blanks: [{ at: ['attestation', 'submittedAt'], is: 'submittedAt' }] }).body, body);
  const others: readonly JsonObject[] = [
    {},
    { body },
    { blanks: [] },
    { body: 'text', blanks: [] },
    { body, blanks: {} },
    { body, blanks: [{ at: [], is: 'submittedAt' }] },
    { body, blanks: [{ at: ['attestation'], is: 'something' }] },
    { body, blanks: [{ at: ['attestation'], is: 'submittedAt', more: 1 }] },
  ];
  for (const other of others) {
    assert.throws(
      () => answerDraft(other),
      (error: unknown) => error instanceof PaymentDamagedError,
      JSON.stringify(other),
    );
  }
});

async function damaged(reading: Promise<unknown>): Promise<void> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof PaymentDamagedError, String(error));
}

test.run();
