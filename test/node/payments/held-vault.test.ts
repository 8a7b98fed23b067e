import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HeldDamagedError, HeldVault } from '../../../node/payments/held-vault.ts';

const vault = new HeldVault(new Uint8Array(32).fill(7));
const ROW = 'payment-answer/one';

test('what is held opens for its row and node as it was sealed, and in no other way', () => {
  const sealed = vault.seal(ROW, 'what is held: é');
  assert.is(vault.open(ROW, sealed), 'what is held: é');
  assert.is(vault.open(ROW, vault.seal(ROW, '')), '');
  assert.is.not(Buffer.from(vault.seal(ROW, 'x')).toString('hex'), Buffer.from(vault.seal(ROW, 'x')).toString('hex'));
  const isDamaged = (error: unknown) => error instanceof HeldDamagedError;
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => vault.open(ROW, sealed.subarray(0, length)), isDamaged, `${length} bytes`);
  }
  for (let at = 0; at < sealed.length; at++) {
    assert.throws(() => vault.open(ROW, sealed.with(at, (sealed[at] ?? 0) ^ 1)), isDamaged);
  }
  assert.throws(() => vault.open(`${ROW}/`, sealed), isDamaged);
  assert.throws(() => new HeldVault(new Uint8Array(32)).open(ROW, sealed), isDamaged);
});

test.run();
