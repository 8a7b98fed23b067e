import type { PaymentProcessor } from '../../node/payments/processor.ts';
import { TestMailSink } from '../fixtures/mail-sink.ts';
import { importSampleLists } from '../fixtures/sample-lists.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { API_KEYS, type TestNode } from '../fixtures/test-node.ts';

/** Whom the victim's callers would pay. */
export const VICTIM_PAYEE = '0x1111111111111111111111111111111111111111';

/** A node to attack, with mail, lists and a till, without a ledger. */
export interface Victim extends AsyncDisposable {
  readonly node: TestNode;
  readonly keys: { readonly hostile: string; readonly good: string };
}

export async function startVictim(): Promise<Victim> {
  await using starting = new AsyncDisposableStack();
  const sink = starting.use(await TestMailSink.start());
  const network = starting.use(
    await TestNetwork.start({
      config: { mail: sink.config, logLevel: 'error' },
      overrides: { payments: { processor: brokenProcessor, payTo: VICTIM_PAYEE, backend: null } },
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

/** No hostile request comes so far that a chain would be asked. */
const brokenProcessor: PaymentProcessor = {
  isReady: true,
  verify: () => Promise.reject(new Error('a hostile payment was taken for one that may hold')),
  settle: () => Promise.reject(new Error('a hostile payment was settled')),
  outcomeOf: () => Promise.reject(new Error('a hostile payment was looked for')),
};
