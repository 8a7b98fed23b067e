import type { ChainReader } from './contract.ts';
import type { PaymentBackend, PaymentBackendOptions } from './payment-backend.ts';
import type { PaymentProcessor } from '../processor.ts';

/** A backend as far as selling by the call needs it. */
export type LateBackend = Pick<PaymentBackend, 'processor' | 'chain' | 'start'> & AsyncDisposable;

/**
 * A payment backend that is opened when it is started, or first asked. What it stands on costs 200 ms and 50 MB to
 * load, and nothing needs it before a node listens.
 */
export function lateBackend(options: PaymentBackendOptions): LateBackend {
  let opening: Promise<PaymentBackend> | undefined;
  let opened: PaymentBackend | undefined;
  const open = (): Promise<PaymentBackend> => {
    opening ??= import('./payment-backend.ts').then(({ openPaymentBackend }) => (opened = openPaymentBackend(options)));
    return opening;
  };
  return {
    processor: processorOf(open, () => opened?.processor.isReady === true),
    chain: chainOf(open),
    start: async () => (await open()).start(),
    [Symbol.asyncDispose]: async () => (await opening)?.[Symbol.asyncDispose](),
  };
}

function processorOf(open: () => Promise<PaymentBackend>, isReady: () => boolean): PaymentProcessor {
  const processor = async () => (await open()).processor;
  return {
    get isReady() {
      return isReady();
    },
    checkSignature: async (payment, terms) => (await processor()).checkSignature(payment, terms),
    verify: async (payment, terms) => (await processor()).verify(payment, terms),
    balanceOf: async (payer) => (await processor()).balanceOf(payer),
    settle: async (payment, terms) => (await processor()).settle(payment, terms),
    outcomeOf: async (sought) => (await processor()).outcomeOf(sought),
  };
}

function chainOf(open: () => Promise<PaymentBackend>): ChainReader {
  const chain = async () => (await open()).chain;
  return {
    latestBlock: async () => (await chain()).latestBlock(),
    account: async (address) => (await chain()).account(address),
    usdcBalance: async (address) => (await chain()).usdcBalance(address),
    isContract: async (address) => (await chain()).isContract(address),
    firstTransaction: async (address, head, signal) => (await chain()).firstTransaction(address, head, signal),
    paymentOf: async (sought, hint) => (await chain()).paymentOf(sought, hint),
  };
}
