import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PaymentDamagedError, PaymentCipher } from '../../../node/payments/payment-cipher.ts';

const cipher = new PaymentCipher(new Uint8Array(32).fill(7));
const ROW = 'payment-answer/one';

test('what is held opens for its row and node as it was sealed, and in no other way', () => {
  const sealed = cipher.seal(ROW, 'what is held: é');
  assert.is(cipher.open(ROW, sealed), 'what is held: é');
  assert.is(cipher.open(ROW, cipher.seal(ROW, '')), '');
  assert.is.not(Buffer.from(cipher.seal(ROW, 'x')).toString('hex'), Buffer.from(cipher.seal(ROW, 'x')).toString('hex'));
  const isDamaged = (error: unknown) => error instanceof PaymentDamagedError;
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => cipher.open(ROW, sealed.subarray(0, length)), isDamaged, `${length} bytes`);
  }
  for (let at = 0; at < sealed.length; at++) {
    assert.throws(() => cipher.open(ROW, sealed.with(at, (sealed[at] ?? 0) ^ 1)), isDamaged);
  }
  assert.throws(() => cipher.open(`${ROW}/`, sealed), isDamaged);
  assert.throws(() => new PaymentCipher(new Uint8Array(32)).open(ROW, sealed), isDamaged);
});

test.run();
