import { AsyncLocalStorage } from 'node:async_hooks';
import { Intake } from '../../node/intake/intake.ts';
import { OrderedSender } from '../../node/payments/facilitator/ordered-sender.ts';
import { PaymentStore } from '../../node/payments/payment-store.ts';
import { Payments } from '../../node/payments/payments.ts';
import { Settler } from '../../node/payments/settler.ts';
import { FATAL_PAYMENTS, PAYMENT_STEPS, type PaymentStep } from './payment-steps.ts';

/**
 * Loaded into a node's process before the node itself (`--import`). Each of the fatal payments gets as far as its step
 * and no further; once all of them are there the process kills itself, which leaves no time for anything.
 */
const fatal = new Map(Object.entries(Object(JSON.parse(process.env[FATAL_PAYMENTS] ?? '{}'))));
/** The step at which what runs now is to stop. */
const fatalStep = new AsyncLocalStorage<PaymentStep | undefined>();
let missing = fatal.size;

async function stopAt(step: PaymentStep | null): Promise<void> {
  if (step === null || fatalStep.getStore() !== step) return;
  if (--missing === 0) process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
}

/** The method, between two steps. */
function between<Self, Arguments extends unknown[], Result>(
  before: PaymentStep | null,
  method: (this: Self, ...given: Arguments) => Promise<Result>,
  after: PaymentStep | null,
): (this: Self, ...given: Arguments) => Promise<Result> {
  return async function stepwise(this: Self, ...given: Arguments) {
    await stopAt(before);
    const result = await method.apply(this, given);
    await stopAt(after);
    return result;
  };
}

const { take } = Payments.prototype;
Payments.prototype.take = function (call, order) {
  const { nonce } = call.payment.authorization;
  const step = PAYMENT_STEPS.find((known) => known === fatal.get(nonce));
  const sold = between(null, take, 'released');
  return fatalStep.run(step, () => sold.call(this, call, async () => between(null, await order(), 'worked')));
};
Settler.prototype.verify = between('verifying', Settler.prototype.verify, 'verified');
Intake.prototype.prepareAll = between('working', Intake.prototype.prepareAll, 'prepared');
PaymentStore.prototype.begin = between(null, PaymentStore.prototype.begin, 'prepared-on-disk');
OrderedSender.prototype.send = between(null, OrderedSender.prototype.send, 'settlement-sent');
Settler.prototype.settle = between(null, Settler.prototype.settle, 'settled');
PaymentStore.prototype.settled = between(null, PaymentStore.prototype.settled, 'settled-on-disk');
Intake.prototype.recordAll = between('publishing', Intake.prototype.recordAll, 'published');
