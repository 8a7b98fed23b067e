import { createHash } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_SIGHTINGS, type StatementAnchorRow } from '../../../node/anchoring/anchors.ts';
import { HederaClient } from '../../../node/anchoring/hedera-client.ts';
import { type LedgerClient, transactionId } from '../../../node/anchoring/ledger-client.ts';
import { statementOutboxClosedTable, statementOutboxTable } from '../../../node/anchoring/outbox.ts';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { type StatementAnchor, writeAnchorMessage } from '../../../protocol/ledger/anchor-message.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { AnchoringNode, FEDERATION, NODE, temporaryDirectory } from './anchoring-node.ts';
import { until } from '../../fixtures/until.ts';
import { LedgerProcess } from './ledger-process.ts';

const test = suite('anchors of statements');

const ledger = await LedgerProcess.start();
/** More than are carried at once. */
const BACKLOG = 12;
test.after(() => ledger[Symbol.asyncDispose]());

test('a stranger who names a roster first as something else keeps neither its anchor nor the news of it away', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using stranger = new HederaClient(ledger.strangerConfig(topicId));
  const roster = hashOf('a roster');
  for (let i = 0; i <= MAX_SIGHTINGS; i++) await stranger.submit(await stranger.prepare(naming('key', roster)));
  const told: StatementAnchorRow[] = [];
  await using node = await AnchoringNode.start(directory.path, {
    config: ledger.config(topicId),
    onStatement: (rows) => told.push(...rows),
  });
  await until('the stranger read', async () => {
    return (await node.anchoring.state()).topic.head.sequence > MAX_SIGHTINGS;
  });
  await keep(node, roster);
  await until('confirmed', async () => {
    return (await statementOutboxClosedTable.get(node.store, roster)) !== undefined;
  });
  const messages = await ledger.messageCounts(topicId);
  assert.is(messages.get(naming('roster', roster)), 1, 'it was sent once');
  assert.is(told.filter(({ type }) => type === 'roster').length, 1);
  assert.is(told.filter(({ type }) => type === 'key').length, MAX_SIGHTINGS, 'and of repeats no more than are kept');
});

test('a statement that was kept without being sent is sent when it is asked for, and once', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId) });
  const roster = hashOf('a roster from a file');
  const ask = () => node.anchoring.ensureStatement('roster', roster, timestampOf(Date.now()));
  await Promise.all([ask(), ask()]);
  await until('confirmed', async () => {
    return (await statementOutboxClosedTable.get(node.store, roster)) !== undefined;
  });
  await ask();
  assert.is(await statementOutboxTable.get(node.store, roster), undefined, 'it is on the ledger');
  assert.is((await ledger.messageCounts(topicId)).get(naming('roster', roster)), 1);
});

test('a statement does not wait until a backlog of batches is worked off', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using node = await AnchoringNode.start(directory.path, {
    config: ledger.config(topicId),
    ledger: deadLedger(),
  });
  for (let batch = 1; batch <= BACKLOG; batch++) await node.seal(batch);
  await until('as many carried as may be', async () => (await node.anchoring.state()).inFlight === 8);
  const revoked = hashOf('a revocation');
  await keep(node, revoked);
  await until('prepared', async () => {
    return (await statementOutboxTable.get(node.store, revoked))?.status === 'prepared';
  });
  assert.is((await node.anchoring.status(BACKLOG))?.status, 'queued');
});

test.run();

async function keep({ store, anchoring }: AnchoringNode, statement: Sha256Hash): Promise<void> {
  await store.write([anchoring.statementEntry('roster', statement, timestampOf(Date.now()))]);
  anchoring.noteSealed();
}

/** Signs, and reaches nobody. */
function deadLedger(): LedgerClient {
  let prepared = 0;
  return {
    prepare: async () => {
      const seconds = Math.floor(Date.now() / 1000);
      const id = transactionId(`0.0.1001@${seconds}.${String(++prepared).padStart(9, '0')}`);
      return { transactionId: id, bytes: 'AAAA', validUntil: seconds + 120 };
    },
    submit: async () => 'ambiguous',
    receipt: async () => 'unknown',
    [Symbol.asyncDispose]: async () => {},
  };
}

function naming(type: StatementAnchor['type'], statement: Sha256Hash): string {
  return writeAnchorMessage({ v: 1, type, federation: FEDERATION, node: NODE, statement });
}

function hashOf(text: string): Sha256Hash {
  return writeSha256(createHash('sha256').update(text).digest());
}
