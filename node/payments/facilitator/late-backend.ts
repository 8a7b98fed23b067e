import type { ChainReader, SettlementMeans } from './contract.ts';
import type { PaymentBackend, PaymentBackendOptions } from './payment-backend.ts';

/** A backend as far as selling by the call needs it. */
export type LateBackend = SettlementMeans & Pick<PaymentBackend, 'chain' | 'start'> & AsyncDisposable;

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
    get isReady() {
      return opened?.isReady === true;
    },
    facilitator: {
      get settlers() {
        return opened?.facilitator.settlers ?? null;
      },
      verify: async (payment, terms) => (await open()).facilitator.verify(payment, terms),
      settle: async (payment, terms) => (await open()).facilitator.settle(payment, terms),
    },
    chain: chainOf(open),
    checkSignature: async (payment, terms) => (await open()).checkSignature(payment, terms),
    start: async () => (await open()).start(),
    [Symbol.asyncDispose]: async () => (await opening)?.[Symbol.asyncDispose](),
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
