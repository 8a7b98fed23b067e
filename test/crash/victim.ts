// A whole node in a process of its own that is told when to die. Loads first and waits, so that a test can have the
// next one at hand.
import { flushCompileCache } from 'node:module';
import { NO_ADDRESSES } from '../../node/outbound/address-list.ts';
import type { NodeConfig } from '../../node/config/config.ts';
import { TestNode } from '../fixtures/test-node.ts';
import { Death, type Moment, type RowWrite } from './death.ts';
import { type WriteStep, writeStep } from './write-path.ts';

export type Order =
  | {
      readonly type: 'start';
      readonly config: NodeConfig;
      readonly markFile: string;
      /** Its clock is ahead by so much. In milliseconds. */
      readonly aheadMs: number;
      /** It dies at the first such write. */
      readonly row: { readonly write: RowWrite; readonly moment: Moment } | null;
    }
  | { readonly type: 'die'; readonly step: string; readonly moment: Moment }
  | { readonly type: 'stop' };

let node: TestNode | undefined;
let death: Death | undefined;

process.on('message', (message) => {
  if (!isOrder(message)) throw new TypeError('not an order');
  void obey(message).then(() => process.send?.('done'));
});
process.once('disconnect', () => process.exit());
// A killed process could not leave it behind.
flushCompileCache();
process.send?.('warm');

async function obey(order: Order): Promise<void> {
  switch (order.type) {
    case 'start':
      death = new Death(order.markFile);
      if (order.row !== null) death.armRow(order.row.write, order.row.moment);
      node = new TestNode(received(order.config), {
        gate: death.gate,
        sealsAhead: true,
        now: () => Date.now() + order.aheadMs,
        recordClock: Date.now,
      });
      return node.start();
    case 'die': {
      const step = writeStep(order.step);
      return death?.arm(step, order.moment, reached(step));
    }
    case 'stop':
      return node?.stop();
  }
}

/** What went from one process to another has its values and no methods: a test's node trusts no proxy. */
function received(config: NodeConfig): NodeConfig {
  return { ...config, http: { ...config.http, trustedProxies: NO_ADDRESSES } };
}

/** The number that the step was made for last, or may have been. */
function reached({ counts, origin }: WriteStep): number {
  if (node === undefined) throw new Error('the node was not started');
  const { intake, chains } = node.context;
  if (counts === 'records') return intake.recorded;
  for (const [id, head] of chains.all()) if (id === origin) return head.batch;
  return 0;
}

function isOrder(message: unknown): message is Order {
  return typeof message === 'object' && message !== null && 'type' in message;
}
