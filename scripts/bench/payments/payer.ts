import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { authorizationTypes } from '@x402/evm';
import { type Hex, type PrivateKeyAccount, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { encodeHeader } from '../../../protocol/payments/header.ts';
import { type PaymentRequirements, X402_VERSION } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { percentile } from '../statistics.ts';
import type { PayerAnswer, PayerQuestion } from './payer-forms.ts';
import { BASE_URL, sellerTerms } from './seller-forms.ts';

/** Bytes of what a call asks; of no interest to the sellers. */
const BODY = '{}';
const NONCE_BYTES = 32;
const BACKDATED_SECONDS = 600;

const accounts = new Map<Hex, PrivateKeyAccount>();

process.on('message', (question: PayerQuestion) => void pay(question).then((answer) => process.send?.(answer)));
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

/** All payments are signed before the first is shown. */
async function pay(question: PayerQuestion): Promise<PayerAnswer> {
  const payments = await signAll(question);
  // Of this round alone: a seller may close what was idle between two.
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const failed: Record<string, number> = {};
  const started = performance.now();
  let under = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    for (let payment = payments.pop(); payment !== undefined; payment = payments.pop()) {
      most = Math.max(most, ++under);
      const asked = performance.now();
      const status = await show(question, agent, payment).catch(() => 0);
      if (status === 200) times.push(performance.now() - asked);
      else failed[status] = (failed[status] ?? 0) + 1;
      under--;
    }
  };
  await Promise.all(Array.from({ length: question.together }, work));
  agent.destroy();
  if (times.length === 0) throw new Error(`nothing was sold: ${JSON.stringify(failed)}`);
  const perSecond = (times.length * 1000) / (performance.now() - started);
  return {
    answers: times.length,
    failed,
    perSecond,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    most,
  };
}

async function signAll({ wallets, calls, payTo, path }: PayerQuestion): Promise<string[]> {
  const terms = sellerTerms(payTo);
  const signed: string[] = [];
  for (let i = 0; i < calls; i++) {
    const key = wallets[i % wallets.length];
    if (key === undefined) throw new Error('nobody pays');
    signed.push(await headerOf(accountOf(key), terms, path));
  }
  return signed;
}

function accountOf(key: Hex): PrivateKeyAccount {
  const account = accounts.get(key) ?? privateKeyToAccount(key);
  accounts.set(key, account);
  return account;
}

async function headerOf(wallet: PrivateKeyAccount, terms: PaymentRequirements, path: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const authorization = {
    from: wallet.address,
    to: terms.payTo,
    value: terms.amount,
    validAfter: String(now - BACKDATED_SECONDS),
    validBefore: String(now + terms.maxTimeoutSeconds),
    nonce: toHex(randomBytes(NONCE_BYTES)),
  };
  const signature = await wallet.signTypedData({
    domain: {
      name: USDC.name,
      version: USDC.version,
      chainId: Number(USDC.network.split(':')[1]),
      verifyingContract: USDC.asset,
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      to: `0x${terms.payTo.slice(2)}`,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  });
  return encodeHeader({
    x402Version: X402_VERSION,
    resource: { url: BASE_URL + path },
    accepted: terms,
    payload: { signature, authorization },
  });
}

function show({ port, path }: PayerQuestion, agent: Agent, payment: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'payment-signature': payment };
    const asking = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent });
    asking.once('error', reject);
    asking.once('response', (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    asking.end(BODY);
  });
}
