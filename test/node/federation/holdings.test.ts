import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId } from '../../../protocol/ids.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const EU = nodeId('eu');
/** Reading, agreeing and signing take a few rounds each. In milliseconds. */
const PATIENCE_MS = 60_000;

function lastDecided(reader: TestNode): number {
  return reader.context.federationLog.state.members[EU]?.last?.batch ?? 0;
}

/** When the first transaction of an own batch was frozen; null while none is. */
async function preparedAt(node: TestNode, batch: number): Promise<string | null> {
  const row = await node.context.anchoring.outboxOf(batch);
  return row?.history.find(({ status }) => status === 'prepared')?.at ?? null;
}

test('a batch is not named while no other member holds it, and is once one does', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], asleep: ['us'], ledger: 'local' });
  const [eu, us] = [network.node('eu'), network.node('us')];
  await eu.attest({ i: 1 });
  await eu.seal();
  await until('its row was taken up', async () => (await eu.context.anchoring.state()).inFlight === 1);
  assert.is(eu.context.federation.holdings.upTo, 0);
  const alone = new Date().toISOString();
  await us.start();
  await until('decided at both', () => [eu, us].every((node) => lastDecided(node) === 1), PATIENCE_MS);
  const prepared = (await preparedAt(eu, 1)) ?? '';
  assert.ok(prepared > alone, `frozen at ${prepared}, while us slept until ${alone}`);
  assert.is(us.context.chains.head(EU).batch, 1);
});

test('in a federation of one a batch is named at once', async () => {
  await using network = await TestNetwork.start({ ledger: 'local' });
  const eu = network.node();
  await eu.attest({ i: 1 });
  await eu.seal();
  await until('decided', () => lastDecided(eu) === 1, PATIENCE_MS);
});

test('six records sealed by a node that was stopped before it named them are verified once it is back', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], asleep: ['us'], ledger: 'local' });
  const [eu, us] = [network.node('eu'), network.node('us')];
  const ids: string[] = [];
  for (let batch = 1; batch <= 2; batch++) {
    for (let i = 0; i < 3; i++) ids.push(await eu.attest({ batch, i }));
    await eu.seal();
  }
  await eu.stop();
  await Promise.all([us.start(), eu.start()]);
  await until('both batches are decided', () => lastDecided(us) === 2, PATIENCE_MS);
  for (const id of ids) await until(`${id} is verified at us`, () => isVerified(us, id), PATIENCE_MS);
});

async function isVerified(node: TestNode, id: string): Promise<boolean> {
  return (await node.get(`/v1/verify/${id}`)).body.verified === true;
}

test.run();
