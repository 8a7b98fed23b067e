import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isPlainSignature, isSignedByPayer } from '../../../../node/payments/facilitator/plain-signature.ts';
import { walletAddress } from '../../../../protocol/payments/payment.ts';
import { atomicAmount } from '../../../../protocol/payments/usdc.ts';
import { randomNonce, signAuthorization } from '../../../fixtures/chain-payer.ts';

const wallet = privateKeyToAccount(generatePrivateKey());
const other = privateKeyToAccount(generatePrivateKey());
const to = `0x${'f'.repeat(40)}`;
const signed = await signAuthorization(wallet, { to, value: 1_000n });

test('what a wallet signs for the token is its signature', async () => {
  assert.is(isPlainSignature(signed), true);
  assert.is(await isSignedByPayer(signed), true);
});

test('with anything of it changed it is not', async () => {
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
    assert.is(await isSignedByPayer({ authorization: { ...authorization, ...change }, signature }), false);
  }
});

test('another key, another chain, and what is no signature at all', async () => {
  const { authorization } = signed;
  const elsewhere = await signAuthorization(wallet, { to, value: 1_000n, chainId: 1 });
  assert.is(await isSignedByPayer(elsewhere), false);
  for (const signature of [`0x${'0'.repeat(130)}`, `0x${'f'.repeat(130)}`]) {
    assert.is(await isSignedByPayer({ authorization, signature }), false);
  }
  for (const signature of ['0x', '0x01', `${signed.signature}00`]) {
    assert.is(isPlainSignature({ authorization, signature }), false);
  }
});

test.run();
