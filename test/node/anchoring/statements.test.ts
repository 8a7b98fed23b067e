import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Naming } from '../../../node/anchoring/anchor-submission.ts';
import { type LedgerClient, transactionId } from '../../../node/anchoring/ledger/ledger-client.ts';
import { spendTable } from '../../../node/anchoring/ledger/spend-guard.ts';
import { OTHERS_SPEND } from '../../../node/anchoring/others-limits.ts';
import {
  statementOutboxClosedTable,
  statementOutboxEntry,
  statementOutboxTable,
} from '../../../node/anchoring/outbox.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { Store } from '../../../node/store/store.ts';
import { hashText, type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { type NamedStatement, nameStatement } from '../../../protocol/log/naming.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { until } from '../../fixtures/until.ts';
import { AnchoringNode, expire, FEDERATION, temporaryDirectory } from './anchoring-node.ts';
import { LedgerProcess } from './ledger/ledger-process.ts';

const test = suite('names of statements');

const ledger = await LedgerProcess.start();
/** More than are carried at once. */
const BACKLOG = 12;
/** More than are looked at to find those that are carried. */
const MANY = 100;
const DAY_MS = 24 * 60 * 60 * 1000;
const federation = await TestFederation.create({ nodes: ['eu', 'us'], signerOf: nativeSigner });
test.after(() => ledger[Symbol.asyncDispose]());

test('a statement is named once, and is done when its message was read', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId) });
  const roster = await nextRoster('a roster');
  await keep(node, roster);
  await confirmed(node, hashOf(roster));
  assert.is((await ledger.messageCounts(topicId)).get(messageOf(roster)), 1);
});

test('one whose message decided nothing where it stands is done too, also where a restart finds that out', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const config = ledger.config(topicId);
  const isOnLedger = async (roster: NamedStatement) =>
    (await ledger.messageCounts(topicId)).get(messageOf(roster)) === 1;
  const read = Promise.withResolvers<void>();
  const naming: Naming = {
    standingOf: async () => 'open',
    mayName: () => true,
    readToEnd: () => read.promise,
    readSoon: () => undefined,
    noteReceipt: () => undefined,
  };
  const [first, second] = [await nextRoster('one'), await nextRoster('another')];
  {
    await using node = await AnchoringNode.start(directory.path, { config, naming });
    await keep(node, first);
    await submitted(node, hashOf(first));
    node.anchoring.noteUndecided([messageOf(first)]);
    await confirmed(node, hashOf(first));
    await keep(node, second);
    await submitted(node, hashOf(second));
    await until('its message', () => isOnLedger(second));
  }
  await expire(directory.path, statementOutboxTable);
  await using node = await AnchoringNode.start(directory.path, { config, naming });
  assert.is(await statementOutboxClosedTable.get(node.store, hashOf(second)), undefined, 'nobody has read it yet');
  read.resolve();
  await confirmed(node, hashOf(second));
  assert.ok(await isOnLedger(second), 'it was sent once');
});

test('a statement that was kept without being sent is sent when it is asked for, once until its name counts no more', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId) });
  const roster = await nextRoster('a roster from a file');
  const ask = (since: Timestamp | null = null, everyMs = 60_000) =>
    node.anchoring.ensureStatement(roster, timestampOf(Date.now()), { since, everyMs });
  await Promise.all([ask(), ask()]);
  await confirmed(node, hashOf(roster));
  await ask();
  assert.is(await statementOutboxTable.get(node.store, hashOf(roster)), undefined, 'it is on the ledger');
  assert.is((await ledger.messageCounts(topicId)).get(messageOf(roster)), 1);
  const sent = async (count: number) => (await ledger.messageCounts(topicId)).get(messageOf(roster)) === count;
  node.reader.fall();
  await ask(timestampOf(Date.now() + 1));
  await until('it is sent again: what it was named by fell', () => sent(2));
  await confirmed(node, hashOf(roster));
  node.reader.fall();
  await ask(null, 0);
  await until('it is sent again: it is long ago', () => sent(3));
});

test('a statement does not wait until a backlog of batches is worked off', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using node = await AnchoringNode.start(directory.path, {
    config: ledger.config(topicId),
    ledger: deadLedger(),
  });
  for (let batch = 1; batch <= BACKLOG; batch++) await node.seal(batch);
  await until(
    'the first is carried, the others wait for it',
    async () => (await node.anchoring.state()).inFlight === 1,
  );
  const revoked = { type: 'revocation', text: (await federation.revokeKey('eu')).statement } as const;
  await keep(node, revoked);
  await until('prepared', async () => {
    return (await statementOutboxTable.get(node.store, hashOf(revoked)))?.status === 'prepared';
  });
  assert.is((await node.anchoring.status(BACKLOG))?.status, 'queued');
});

test('revocations of other nodes that their limit holds back keep no revocation and no roster of its own waiting', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const at = timestampOf(Date.now());
  {
    await using store = await Store.open(directory.path);
    const day = Math.floor(Date.now() / DAY_MS);
    const { row, limits } = OTHERS_SPEND.revocation;
    const inDay = limits.transactionsPerDay ?? 0;
    // Of tomorrow: the day may end meanwhile.
    const spent = { hour: 0, inHour: 0, day: day + 1, inDay, tinybars: 0 };
    await store.write([spendTable.put([row], spent)]);
  }
  await using node = await AnchoringNode.start(directory.path, {
    config: ledger.config(topicId),
    ledger: deadLedger(),
  });
  const revoked = async (name: string): Promise<NamedStatement> => {
    return { type: 'revocation', text: (await federation.revokeKey(name)).statement };
  };
  const message = messageOf(await revoked('us'));
  // Less than any other hash: each is looked at before the own ones.
  const held = Array.from({ length: MANY }, (_, i) =>
    statementOutboxEntry(writeSha256(new Uint8Array(32).fill(i, -1)), message, at),
  );
  await node.store.write(held);
  node.anchoring.noteSealed();
  await until('two are taken', async () => (await node.anchoring.state()).inFlight === 2);
  for (const own of [await revoked('eu'), await nextRoster('of its own')]) {
    await keep(node, own);
    await until('prepared', async () => {
      return (await statementOutboxTable.get(node.store, hashOf(own)))?.status === 'prepared';
    });
  }
  const others = await Array.fromAsync(statementOutboxTable.under(node.store, [], { limit: MANY }));
  assert.equal(new Set(others.map(([, { status }]) => status)), new Set(['queued']));
});

test.run();

async function keep({ store, anchoring }: AnchoringNode, statement: NamedStatement): Promise<void> {
  await store.write([anchoring.statementEntry(statement, timestampOf(Date.now()))]);
  anchoring.noteSealed();
}

function confirmed({ store }: AnchoringNode, statement: Sha256Hash): Promise<void> {
  return until('confirmed', async () => (await statementOutboxClosedTable.get(store, statement)) !== undefined);
}

function submitted({ store }: AnchoringNode, statement: Sha256Hash): Promise<void> {
  return until('submitted', async () => (await statementOutboxTable.get(store, statement))?.status === 'submitted');
}

async function nextRoster(name: string): Promise<NamedStatement> {
  return { type: 'roster', text: federation.addRoster({ name }) };
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
    receipt: async () => ({ kind: 'unknown' }),
    [Symbol.asyncDispose]: async () => {},
  };
}

function messageOf(statement: NamedStatement): string {
  return writeLedgerMessage(nameStatement(nativeSuite, FEDERATION, statement));
}

function hashOf({ text }: NamedStatement): Sha256Hash {
  return hashText(nativeSuite, text);
}
