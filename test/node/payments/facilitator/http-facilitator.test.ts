import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FacilitatorFault, FacilitatorServer } from '../../../../cluster/chain/facilitator-server.ts';
import type { Facilitator } from '../../../../node/payments/facilitator/contract.ts';
import type { FacilitatorError } from '../../../../node/payments/facilitator/facilitator-error.ts';
import { HttpFacilitator } from '../../../../node/payments/facilitator/http-facilitator.ts';
import { requirementsOf } from '../../../../protocol/payments/terms.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { signAuthorization } from '../../../fixtures/chain-payer.ts';
import { fails } from './failing.ts';

const TOKEN = 'service-token';
const SETTLE_MS = 1_500;

const chain = await TestChain.start();
const service = await FacilitatorServer.start({ rpcUrl: chain.rpcUrl, key: chain.key(), port: 0, token: TOKEN });
const wallet = await chain.wallet();
const terms = requirementsOf('tiered-attest', { payTo: chain.payTo });
const price = BigInt(terms.amount);
const facilitator = facilitatorAt(service.url);

test.after(async () => {
  await service[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

test('finds out what the service supports, and shows it the credentials', async () => {
  await facilitator.probe();
  await fails(facilitatorAt(service.url, 'wrong').probe(), 'unreachable');
});

test('has a payment settled: the payee has exactly the price', async () => {
  const payment = await pay();
  const before = await chain.balanceOf(chain.payTo);
  await facilitator.verify(payment, terms);
  const { transaction } = await facilitator.settle(payment, terms);
  assert.is((await chain.balanceOf(chain.payTo)) - before, price);
  assert.is((await chain.client.getTransactionReceipt({ hash: transaction })).status, 'success');
});

test('passes on why a payment is no good', async () => {
  const dear = { ...terms, amount: requirementsOf('verify-audit', { payTo: chain.payTo }).amount };
  const poor = await chain.wallet('0');
  await fails(
    facilitator.verify(await pay(), dear),
    'refused',
    'invalid_exact_evm_payload_authorization_value_mismatch',
  );
  const unpaid = await signAuthorization(poor, { to: chain.payTo, value: price });
  await fails(facilitator.verify(unpaid, terms), 'refused', 'invalid_exact_evm_insufficient_balance');
});

test('leaves the outcome open where the service may have settled, and does not where it cannot have', async () => {
  const cases: readonly (readonly [fault: FacilitatorFault, code: FacilitatorError['code'], isPaid: boolean])[] = [
    ['refuse', 'refused', false],
    ['error', 'unknown-outcome', false],
    ['hang', 'unknown-outcome', false],
    ['hang-after', 'unknown-outcome', true],
    ['error-after', 'unknown-outcome', true],
    ['unavailable-after', 'unknown-outcome', true],
    ['nonsense-after', 'unknown-outcome', true],
    ['close-after', 'unknown-outcome', true],
  ];
  for (const [fault, code, isPaid] of cases) {
    const before = await chain.balanceOf(chain.payTo);
    service.fault = fault;
    await fails(facilitator.settle(await pay(), terms), code);
    assert.is((await chain.balanceOf(chain.payTo)) - before, isPaid ? price : 0n, fault);
  }
  service.fault = null;
});

test('does not take a used authorization for a refusal: an earlier attempt may have used it', async () => {
  const payment = await pay();
  await facilitator.settle(payment, terms);
  await fails(facilitator.settle(payment, terms), 'unknown-outcome');
});

test('tells a service that is not there, or turns callers away, from one that fails', async () => {
  const payment = await pay();
  for (const nobody of [facilitatorAt('http://127.0.0.1:2'), facilitatorAt(service.url, 'wrong')]) {
    await fails(nobody.verify(payment, terms), 'unreachable');
    await fails(nobody.settle(payment, terms), 'unreachable');
    await fails(nobody.probe(), 'unreachable');
  }
});

function facilitatorAt(url: string, token = TOKEN): Facilitator {
  return new HttpFacilitator({ url, headers: { authorization: `Bearer ${token}` }, settleMs: SETTLE_MS });
}

function pay() {
  return signAuthorization(wallet, { to: chain.payTo, value: price });
}

test.run();
