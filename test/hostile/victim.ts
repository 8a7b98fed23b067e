import { TestMailSink } from '../fixtures/mail-sink.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { API_KEYS, type TestNode } from '../fixtures/test-node.ts';

/** A node to attack, with mail and without a ledger. */
export interface Victim extends AsyncDisposable {
  readonly node: TestNode;
  readonly keys: { readonly hostile: string; readonly good: string };
}

export async function startVictim(): Promise<Victim> {
  await using starting = new AsyncDisposableStack();
  const sink = starting.use(await TestMailSink.start());
  const network = starting.use(await TestNetwork.start({ config: { mail: sink.config, logLevel: 'error' } }));
  const running = starting.move();
  return {
    node: network.node(),
    keys: { hostile: API_KEYS.unmetered, good: API_KEYS.enterprise },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
