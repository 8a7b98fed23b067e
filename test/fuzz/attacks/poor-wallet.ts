import { privateKeyToAccount } from 'viem/accounts';
import { PAYMENT_SIGNATURE_HEADER } from '../../../protocol/payments/header.ts';
import { paymentHeader } from '../../fixtures/payment-header.ts';
import { type Attack, attackers } from './attack.ts';
import { AttackClient, strangersHeader } from './attack-client.ts';

const SERVICE = 'tiered-attest-batch-xl';
const PATH = '/v1/x402/tiered-attest-batch-xl';
const TOGETHER = 16;

/** A wallet that has the price of one large batch signs for one after another, sixteen at a time. */
export const poorWallet: Attack = async ({ port, baseUrl, payTo, wallet, batchRecords }) => {
  const client = new AttackClient(port);
  const account = privateKeyToAccount(wallet);
  const records = Array.from({ length: batchRecords }, (_, n) => ({ sourceId: 'batch', data: { n } }));
  const body = Buffer.from(JSON.stringify({ agentId: 'poor', records }));
  return (requests) =>
    attackers({
      count: TOGETHER,
      requests,
      async send(n, outcomes) {
        const payment = await paymentHeader(account, payTo, SERVICE, baseUrl + PATH);
        const headers = { ...strangersHeader(n), [PAYMENT_SIGNATURE_HEADER]: payment };
        await client.send({ method: 'POST', path: PATH, headers, body }, outcomes);
      },
      close: () => client.close(),
    });
};
