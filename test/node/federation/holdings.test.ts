import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { statementOutboxClosedTable, statementOutboxTable } from '../../../node/anchoring/outbox.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const EU = nodeId('eu');
/** Reading, agreeing and signing take a few rounds each. In milliseconds. */
const PATIENCE_MS = 60_000;

function lastDecided(reader: TestNode): number {
  return reader.context.federationLog.state.members[EU]?.last?.batch ?? 0;
}

/** Has a node name a revocation that no other member names; resolves once its transaction is frozen. */
async function nameSomething({ context }: TestNode): Promise<void> {
  const at = timestampOf(Date.now());
  const keyId = hashText(nativeSuite, 'no key');
  const revocation = { v: 2, type: 'revocation', node: EU, keyId, compromisedSince: null, reason: 'rotated' } as const;
  const text = revocationStatement.write({ ...revocation, issuedAt: at });
  await context.anchoring.ensureStatement({ type: 'revocation', text }, at, { since: null, everyMs: 0 });
  const isFrozen = async () => {
    const row = await readStatementOutbox(context, hashText(nativeSuite, text));
    return (row?.attempts ?? 0) > 0;
  };
  await until('its name is frozen', isFrozen, PATIENCE_MS);
}

async function readStatementOutbox({ store }: TestNode['context'], hash: string) {
  return (await statementOutboxTable.get(store, hash)) ?? (await statementOutboxClosedTable.get(store, hash));
}

test('a batch is not named while no other member holds it, and is once one does', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], asleep: ['us'], ledger: 'local' });
  const [eu, us] = [network.node('eu'), network.node('us')];
  await eu.attest({ i: 1 });
  await eu.seal();
  await until('its row was taken up', async () => (await eu.context.anchoring.state()).inFlight === 1);
  // What is named is frozen in turn: once this is, the batch's turn has passed.
  await nameSomething(eu);
  assert.equal([eu.context.federation.holdings.upTo, (await eu.context.anchoring.status(1))?.attempts], [0, 0]);
  await us.start();
  await until('decided at both', () => [eu, us].every((node) => lastDecided(node) === 1), PATIENCE_MS);
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
