import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Parts } from '../../../node/wiring/parts.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

test('a part is found once it is made, and asking for it before is refused by its name', async () => {
  await using network = await TestNetwork.start();
  const { federation, sealer } = network.node().context;
  const parts = new Parts();
  assert.throws(() => parts.get('sealer'), /^the sealer of the node is not made yet$/);
  parts.add({ sealer });
  assert.is(parts.get('sealer'), sealer);
  assert.throws(() => parts.get('federation'), /federation/);
  parts.add({ federation });
  assert.is(parts.get('federation'), federation);
});

test.run();
