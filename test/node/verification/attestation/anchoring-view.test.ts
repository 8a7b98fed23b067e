import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId, recordId } from '../../../../protocol/ids.ts';
import { AnchoringView } from '../../../../node/verification/attestation/anchoring-view.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';

const network = await TestNetwork.start({ ledger: 'local' });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());
const id = recordId(await node.attest({}));
await node.seal();
await until('it is decided', async () => ((await node.context.evidence(id))?.decision ?? null) !== null);
const evidence = await node.context.evidence(id);
if (evidence === undefined) throw new Error('there is no evidence');

const unasked = (): never => {
  throw new Error('nothing is judged');
};

/** The view of a node, and the batches whose way to the ledger it looked for. */
function viewOf(self: string) {
  const asked: number[] = [];
  const outbox = async (batch: number) => {
    asked.push(batch);
    return undefined;
  };
  return { asked, view: new AnchoringView({ self: nodeId(self), outbox, records: { judge: unasked } }) };
}

test('of an own batch that is decided no transaction is looked for: the ledger took it', async () => {
  const { view, asked } = viewOf('eu');
  assert.is(await view.isAnchored(evidence), true);
  assert.equal(asked, []);
  assert.is(await view.isAnchored({ ...evidence, decision: null }), false);
  assert.equal(asked, [1]);
});

test('a decision that names the batch of another node’s record says nothing of a transaction of this one', async () => {
  const { view, asked } = viewOf('us');
  assert.is(await view.isAnchored(evidence), false);
  assert.equal(asked, []);
});

test.run();
