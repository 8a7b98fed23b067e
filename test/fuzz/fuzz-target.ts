import type { InferenceConfig } from '../../node/services/inference/config.ts';
import type { SettlementMeans } from '../../node/payments/facilitator/contract.ts';
import { FacilitatorError } from '../../node/payments/facilitator/facilitator-error.ts';
import { TestMailSink } from '../fixtures/mail-sink.ts';
import { importSampleLists } from '../fixtures/sample-lists.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { API_KEYS, type TestNode } from '../fixtures/test-node.ts';

/** Whom the victim's callers would pay. */
export const TARGET_PAYEE = '0x1111111111111111111111111111111111111111';

/** A node to attack, with mail, lists and a till, without a ledger. */
export interface FuzzTarget extends AsyncDisposable {
  readonly node: TestNode;
  readonly keys: { readonly hostile: string; readonly good: string };
}

export async function startFuzzTarget(): Promise<FuzzTarget> {
  await using starting = new AsyncDisposableStack();
  const sink = starting.use(await TestMailSink.start());
  const network = starting.use(
    await TestNetwork.start({
      config: { mail: sink.config, logLevel: 'error', inference: INFERENCE },
      overrides: {
        uncountedPerSecond: Number.MAX_SAFE_INTEGER,
        payments: { settlement: emptyWallets, payTo: TARGET_PAYEE, backend: null },
      },
    }),
  );
  const node = network.node();
  await importSampleLists(node);
  const running = starting.move();
  return {
    node,
    keys: { hostile: API_KEYS.unmetered, good: API_KEYS.enterprise },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Wallets that sign and have nothing: their requests are read whole, and none comes so far that it would be settled.
 */
const emptyWallets: SettlementMeans = {
  isReady: true,
  facilitator: {
    settlers: null,
    verify: () => Promise.reject(new FacilitatorError('refused', 'invalid_exact_evm_insufficient_balance')),
    settle: () => Promise.reject(new Error('a hostile payment was settled')),
  },
  chain: {
    usdcBalance: () => Promise.resolve(0n),
    paymentOf: () => Promise.reject(new Error('a hostile payment was looked for')),
  },
  checkSignature: () => Promise.resolve(),
};
/** A model that is for sale, and is never asked. */
const INFERENCE: InferenceConfig = {
  kind: 'remote',
  url: 'http://127.0.0.1:1',
  headers: {},
  model: 'none',
  version: null,
  label: null,
  timeLimitMs: 1_000,
};
