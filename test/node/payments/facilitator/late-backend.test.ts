import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lateBackend } from '../../../../node/payments/facilitator/late-backend.ts';
import type { PaymentBackendOptions } from '../../../../node/payments/facilitator/payment-backend.ts';
import { walletAddress } from '../../../../protocol/payments/payment.ts';

/** Nobody listens at port 1. */
const CONFIG = { rpcUrl: 'http://127.0.0.1:1', payTo: '0x000000000000000000000000000000000000dEaD' as const };

/** Options that count how often they are opened with. */
function counted(): { readonly options: PaymentBackendOptions; readonly reads: () => number } {
  let reads = 0;
  const options: PaymentBackendOptions = {
    get config() {
      reads++;
      return { ...CONFIG, facilitator: { kind: 'http' as const, url: 'http://127.0.0.1:1', headers: {} } };
    },
    log: pino({ level: 'silent' }),
    isProduction: false,
  };
  return { options, reads: () => reads };
}

test('it takes no payments before it is started, and opens nothing to say so', async () => {
  const { options, reads } = counted();
  await using backend = lateBackend(options);
  assert.is(backend.isReady, false);
  assert.is(reads(), 0);
});

test('it is opened once, however many ask at a time', async () => {
  const { options, reads } = counted();
  await using backend = lateBackend(options);
  const payer = walletAddress('0x00000000000000000000000000000000000000aa');
  const answers = await Promise.allSettled([
    backend.chain.usdcBalance(payer),
    backend.chain.usdcBalance(payer),
    backend.start(),
  ]);
  assert.equal(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  );
  assert.is(backend.isReady, false);
  assert.is(reads(), 1);
});

test.run();
