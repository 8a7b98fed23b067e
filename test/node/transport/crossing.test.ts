import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../fixtures/until.ts';
import { Network } from './network.ts';

const ROUNDS = 8;
/** Both dial as soon as they hear of each other. */
const AT_ONCE = { limits: { dialAnyway: 1, redialTick: 5 } };

test('two members that dial each other at once settle on one connection, and gossip both ways', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    await using network = await Network.of(['eu', 'us'], { eu: AT_ONCE, us: AT_ONCE });
    const left: string[] = [];
    for (const node of ['eu', 'us']) network.transport(node).onDisconnect((other) => left.push(other));
    await network.meshed();
    for (const [from, to] of [['eu', 'us'] as const, ['us', 'eu'] as const]) {
      let tries = 0;
      await until(`gossip from ${from}`, () => {
        void network.transport(from).publish('keys', Buffer.from(`${from} ${tries++}`));
        return network.peer(to).received.length > 0;
      });
    }
    const before = left.length;
    await sleep(200);
    assert.is(left.length, before, 'the connection stays');
  }
});

test.run();
