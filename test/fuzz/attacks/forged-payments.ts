import { randomBytes } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { AttackTarget } from '../../../scripts/bench/attacks/attack-target.ts';
import { encodeHeader, PAYMENT_SIGNATURE_HEADER } from '../../../protocol/payments/header.ts';
import { priceOf } from '../../../protocol/payments/prices.ts';
import { requirementsOf, X402_VERSION } from '../../../protocol/payments/terms.ts';
import { atomicAmount } from '../../../protocol/payments/usdc.ts';
import { randomNonce } from '../../fixtures/chain-payer.ts';
import { type Attack, attackers } from './attack.ts';
import { AttackClient, strangersHeader } from './attack-client.ts';

const SERVICE = 'tiered-attest-batch-xl';
const PATH = '/v1/x402/tiered-attest-batch-xl';
const TOGETHER = 32;
const SIGNATURE_BYTES = 65;
const LIFE_SECONDS = 300;
/**
 * Of a body, the part that is sent, and the part that is announced and kept back: only what is not awaited is answered.
 */
const SENT = Buffer.alloc(64 << 10, ' ');
const MISSING_BYTES = 16 << 20;

/**
 * Payments that nobody signed, and headers that are none, each before a large body. Every second one is well-formed.
 */
export const forgedPayments: Attack = async (target) => {
  const client = new AttackClient(target.port);
  const payer = privateKeyToAccount(generatePrivateKey()).address;
  return (requests) =>
    attackers({
      count: TOGETHER,
      requests,
      send(n, outcomes) {
        const payment = n % 2 === 0 ? randomBytes(SIGNATURE_BYTES).toString('base64') : forged(target, payer);
        const headers = { ...strangersHeader(n), [PAYMENT_SIGNATURE_HEADER]: payment };
        return client.send({ method: 'POST', path: PATH, headers, body: SENT, missing: MISSING_BYTES }, outcomes);
      },
      close: () => client.close(),
    });
};

function forged({ payTo, baseUrl }: AttackTarget, payer: string): string {
  const now = Math.floor(Date.now() / 1_000);
  const authorization = {
    from: payer,
    to: payTo,
    value: atomicAmount(String(priceOf(SERVICE))),
    validAfter: String(now - LIFE_SECONDS),
    validBefore: String(now + LIFE_SECONDS),
    nonce: randomNonce(),
  };
  return encodeHeader({
    x402Version: X402_VERSION,
    resource: { url: baseUrl + PATH },
    accepted: { ...requirementsOf(SERVICE, { payTo }) },
    payload: { signature: `0x${randomBytes(SIGNATURE_BYTES).toString('hex')}`, authorization },
  });
}
