import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { TopicWriter } from '../anchoring/topic/topic-writer.ts';

const NODES = ['eu', 'us', 'jp'] as const;

test('a roster in force whose text nobody has holds the log up, which says so, and goes on once one member has it', async () => {
  await using network = await TestNetwork.start({ nodes: NODES, ledger: 'local' });
  const nodes = NODES.map((name) => network.node(name));
  const [eu, us] = [network.node('eu'), network.node('us')];
  const { current, hash: previous, genesis: federation } = eu.context.keys.rosters;
  const issuedAt = timestampOf(Date.now());
  const text = rosterStatement.write({ ...current, name: 'hidden', version: 2, previous, issuedAt });
  const statement = hashText(nativeSuite, text);
  const naming = writeLedgerMessage({ v: 2, type: 'roster', federation, previous, statement });
  const { config, network: name, topicId } = network.ledger;
  for (const index of [0, 1]) {
    await using writer = await TopicWriter.open({ ...config(index), network: name, topicId });
    await writer.write(naming);
  }
  for (const { context } of nodes) await until('it is missed', () => context.follower.needsRoster === statement);
  const health: { log: { waitingFor: string } } = JSON.parse((await us.get('/v1/health')).text);
  assert.is(health.log.waitingFor, 'roster');

  const id = await us.attest({ input: 1 });
  await us.seal();
  await until('the ledger to have taken it', async () => (await us.get(`/v1/status/${id}`)).body.status === 'anchored');
  const [log] = nodes.map(({ context }) => context.federationLog);
  assert.equal([log?.size, log?.state.rosters.length], [0, 1], 'nothing after the roster is decided');

  await eu.context.federationLog.keepRoster(text);
  for (const node of nodes) {
    await until('the log to go on', () => node.context.follower.needsRoster === null);
    await until('the record', async () => (await node.get(`/v1/verify/${id}`)).body.verified === true);
    assert.is(node.context.federationLog.state.rosters.length, 2);
  }
});

test.run();
