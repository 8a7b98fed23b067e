import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId } from '../../../protocol/ids.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const NAMES = ['eu', 'us', 'ca', 'sg', 'jp'] as const;
/** Reading, agreeing and signing take a few rounds each. In milliseconds. */
const PATIENCE_MS = 60_000;

/** What the newest checkpoint of a member vouches for, as another member counts it. */
function vouchedBy(reader: TestNode, member: string): Readonly<Record<string, number>> {
  return reader.context.checkpointBook.newest(nodeId(member))?.checkpoint.vouched ?? {};
}

test('the checkpoints of all members vouch for all batches of all members', async () => {
  await using network = await TestNetwork.start({ nodes: NAMES, ledger: 'local' });
  for (let round = 1; round <= 3; round++) {
    for (const name of NAMES) {
      const node = network.node(name);
      await node.attest({ round, name });
      await node.seal();
    }
  }
  const all = Object.fromEntries(NAMES.map((name) => [name, 3]));
  for (const reader of NAMES) {
    for (const member of NAMES) {
      await until(
        `${reader} counts that ${member} vouches for everything`,
        () => NAMES.every((name) => vouchedBy(network.node(reader), member)[name] === all[name]),
        PATIENCE_MS,
      );
    }
    assert.equal(network.node(reader).context.vouching.underived, []);
  }
});

test.run();
