import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HederaClient } from '../../../../node/anchoring/ledger/hedera-client.ts';
import { SpendGuard } from '../../../../node/anchoring/ledger/spend-guard.ts';
import { INITIAL_HEAD } from '../../../../node/anchoring/topic/topic-links.ts';
import { Store } from '../../../../node/store/store.ts';
import { ConsensusError, ConsensusSource } from '../../../../node/anchoring/topic/consensus-source.ts';
import type { TopicPoint } from '../../../../node/anchoring/ledger/topic-point.ts';
import { until } from '../../../fixtures/until.ts';
import { temporaryDirectory } from '../anchoring-node.ts';
import { entity, LedgerProcess } from '../ledger/ledger-process.ts';

const test = suite('what consensus nodes say of a topic');
const stack = new AsyncDisposableStack();
const ledger = stack.use(await LedgerProcess.start());
const NOW = 1_763_717_400_000;

async function codeOf(asking: Promise<unknown>): Promise<string> {
  return asking.then(
    () => 'answered',
    (error: unknown) => (error instanceof ConsensusError ? error.code : String(error)),
  );
}

async function openStore(): Promise<Store> {
  const directory = stack.use(await temporaryDirectory());
  return stack.use(await Store.open(directory.path));
}

test('the topic and receipts carry the sequence number and the running hash', async () => {
  const config = ledger.config(await ledger.createTopic());
  await using source = await ConsensusSource.open(config, await openStore());
  const { sequence, runningHash } = INITIAL_HEAD;
  assert.equal(await source.topicInfo(NOW), { sequence, runningHash }, 'of a topic without messages');
  await using client = new HederaClient(config);
  const points: TopicPoint[] = [];
  for (const text of ['one', 'two']) {
    const prepared = await client.prepare(text);
    await client.submit(prepared);
    await until('a receipt', async () => {
      const receipt = await client.receipt(prepared.transactionId);
      if (receipt.kind === 'landed') points.push(receipt.point);
      return receipt.kind === 'landed';
    });
  }
  assert.equal(
    points.map((point) => point.sequence),
    [1, 2],
  );
  assert.equal(await source.topicInfo(NOW), points[1]);
});

test('questions are paid for under limits of their own, which outlast a restart', async () => {
  const config = ledger.config(await ledger.createTopic());
  const store = await openStore();
  const limits = { transactionsPerHour: 2 };
  {
    await using source = await ConsensusSource.open(config, store, limits);
    assert.equal(await Promise.all([1, 2, 3].map(() => codeOf(source.topicInfo(NOW)))), [
      'answered',
      'answered',
      'held',
    ]);
    assert.is(source.spent(NOW).hour.transactions, 2);
  }
  await using source = await ConsensusSource.open(config, store, limits);
  assert.is(await codeOf(source.topicInfo(NOW)), 'held');
  assert.is(await codeOf(source.topicInfo(NOW + 3_600_000)), 'answered');
  const anchoring = await SpendGuard.open(store);
  assert.is(anchoring.state(NOW).day.transactions, 0, 'anchoring has its own');
});

test('nodes that are not there, a topic that is not there and a payer without funds are told apart, and all are charged', async () => {
  const config = ledger.config(await ledger.createTopic());
  const store = await openStore();
  const ask = async (changes: Partial<typeof config>): Promise<string> => {
    await using source = await ConsensusSource.open({ ...config, ...changes }, store);
    return await codeOf(source.topicInfo(NOW));
  };
  assert.is(await ask({ nodes: { '127.0.0.1:9': entity('0.0.3') } }), 'unreachable');
  assert.is(await ask({ topicId: entity('0.0.999999') }), 'refused');
  assert.is(await ask(ledger.poorConfig(config.topicId)), 'refused');
  const guard = await SpendGuard.open(store, {}, 'topic-info');
  assert.is(guard.state(NOW).hour.transactions, 3);
});

test.after(() => stack.disposeAsync());
test.run();
