import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isPlainSignature, isSignedByPayer } from '../../../../node/payments/facilitator/payer-signature.ts';
import { walletAddress } from '../../../../protocol/payments/payment.ts';
import { atomicAmount } from '../../../../protocol/payments/usdc.ts';
import { randomNonce, signAuthorization, typedData } from '../../../fixtures/chain-payer.ts';
import { fc } from '../../../fixtures/properties.ts';

const wallet = privateKeyToAccount(generatePrivateKey());
const other = privateKeyToAccount(generatePrivateKey());
const to = `0x${'f'.repeat(40)}`;
const signed = await signAuthorization(wallet, { to, value: 1_000n });

test('what a wallet signs for the token is its signature', () => {
  assert.is(isPlainSignature(signed), true);
  assert.is(isSignedByPayer(signed), true);
});

test('with anything of it changed it is not', () => {
  const { authorization, signature } = signed;
  const changes = [
    { from: walletAddress(other.address) },
    { to: walletAddress(other.address) },
    { value: atomicAmount('1001') },
    { validAfter: authorization.validAfter - 1 },
    { validBefore: authorization.validBefore + 1 },
    { nonce: randomNonce() },
  ];
  for (const change of changes) {
    assert.is(isSignedByPayer({ authorization: { ...authorization, ...change }, signature }), false);
  }
});

test('another key, another chain, and what is no signature at all', async () => {
  const { authorization } = signed;
  const elsewhere = await signAuthorization(wallet, { to, value: 1_000n, chainId: 1 });
  assert.is(isSignedByPayer(elsewhere), false);
  for (const signature of [`0x${'0'.repeat(130)}`, `0x${'f'.repeat(130)}`]) {
    assert.is(isSignedByPayer({ authorization, signature }), false);
  }
  for (const signature of ['0x', '0x01', `${signed.signature}00`]) {
    assert.is(isPlainSignature({ authorization, signature }), false);
  }
});

const bits = (count: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(count) - 1n });
const hex = (value: bigint, bytes: number) => value.toString(16).padStart(2 * bytes, '0');
const authorizations = fc.record({
  to: bits(160).map((value) => walletAddress(`0x${hex(value, 20)}`)),
  value: bits(256),
  validAfter: fc.nat(),
  validBefore: fc.nat(),
  nonce: fc.constant(undefined).map(randomNonce),
});

test('whatever is signed, viem finds the same signer', async () => {
  await fc.assert(
    fc.asyncProperty(authorizations, fc.constantFrom(0, 1, 2, 27, 28, 29), async (signing, last) => {
      const { authorization, signature } = await signAuthorization(wallet, signing);
      const changed = `${signature.slice(0, -2)}${hex(BigInt(last), 1)}`;
      const signer = await recoverTypedDataAddress({
        ...typedData(authorization),
        signature: `0x${changed.slice(2)}`,
      }).catch(() => null);
      const expected = signer?.toLowerCase() === wallet.address.toLowerCase();
      assert.is(isSignedByPayer({ authorization, signature: changed }), expected);
    }),
    { numRuns: 40 },
  );
});

test('a number that no token can hold is signed by nobody', () => {
  const { authorization, signature } = signed;
  const value = atomicAmount(String(2n ** 256n));
  assert.is(isSignedByPayer({ authorization: { ...authorization, value }, signature }), false);
});

test.run();
