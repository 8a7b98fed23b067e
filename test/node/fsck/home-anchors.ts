import { transactionId } from '../../../node/anchoring/ledger/ledger-client.ts';
import {
  closeOperations,
  freeze,
  noteSubmitted,
  openStatements,
  type OutboxRow,
  readOutbox,
  rowOperation,
  statementOutboxEntry,
} from '../../../node/anchoring/outbox.ts';
import { SpendGuard } from '../../../node/anchoring/ledger/spend-guard.ts';
import type { FederationKeys } from '../../../node/log/members/federation-keys.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { StoredBatch } from '../../../node/records/batch-tables.ts';
import type { Operation } from '../../../node/store/operation.ts';
import type { Store } from '../../../node/store/store.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope, type NamedStatement, nameStatement } from '../../../protocol/log/naming.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { accountOf } from '../../fixtures/federation-member.ts';
import type { PlacedMessage, TestTopic } from '../../fixtures/federation-topic.ts';

/** The anchor message of a batch. */
export function messageOf(keys: FederationKeys, { envelope, signed }: StoredBatch): string {
  return writeLedgerMessage(nameEnvelope(nativeSuite, keys.rosters.genesis, envelope, signed.statement));
}

/** The outbox row of a statement, and the message that it will be named by. */
export function statementRow(
  { rosters }: FederationKeys,
  named: NamedStatement,
  at: Timestamp,
): { readonly entry: Operation; readonly message: string } {
  const naming = nameStatement(nativeSuite, rosters.genesis, named);
  const message = writeLedgerMessage(naming);
  return { entry: statementOutboxEntry(naming.statement, message, at), message };
}

/**
 * On the ledger, in order: all of `us`, and all but the last two of `eu`, of which one is submitted and one still
 * queued; and the revocation that the store holds, by two members. Each is paid by an account of who names it.
 */
export async function anchorAll(
  store: Store,
  keys: FederationKeys,
  topic: TestTopic,
  own: readonly StoredBatch[],
  held: readonly StoredBatch[],
  now: () => number,
): Promise<readonly TopicMessage[]> {
  const confirmed = own.slice(0, -2);
  const [first] = held;
  const again = first === undefined ? [] : [first];
  const batches = [...held, ...confirmed, ...again].map((batch) => ({
    payer: accountOf(batch.envelope.node),
    message: messageOf(keys, batch),
  }));
  const revocation = await queueRevocation(store, keys, timestampOf(now()));
  const named = keys.rosters.nodes.slice(0, 2).map((node) => ({ payer: accountOf(node), message: revocation }));
  const messages = [...batches, ...named].map(({ payer, message }) => readBack(topic.submit(message, now(), payer)));
  const guard = await SpendGuard.open(store);
  const submit = async (row: OutboxRow | undefined): Promise<OutboxRow> => {
    const grant = guard.admit(now());
    if (row === undefined || grant.kind === 'waits') throw new RangeError('no outbox row');
    const id = transactionId(`0.0.1001@1763717400.${String(grant.spent.inDay).padStart(9, '0')}`);
    const prepared = { transactionId: id, bytes: 'AAAA', validUntil: 1_763_717_520 };
    const submitted = noteSubmitted(freeze(row, prepared, timestampOf(now())), timestampOf(now()));
    await store.write([rowOperation(submitted), grant.record]);
    guard.commit(grant);
    return submitted;
  };
  for (const { envelope } of own.slice(0, -1)) {
    const row = await submit(await readOutbox(store, envelope.batch));
    if (batches.some(({ message }) => message === row.message)) {
      await store.write(closeOperations(row, timestampOf(now())));
    }
  }
  for await (const row of openStatements(store)) {
    await store.write(closeOperations(await submit(row), timestampOf(now())));
  }
  return messages;
}

/** The message as the log reads it. */
export function readBack({ sequence, consensusTimestamp, payer, message, runningHash }: PlacedMessage): TopicMessage {
  return { sequence: Number(sequence), consensusTimestamp, payer, message: utf8(message), runningHash };
}

/** Its outbox row is written; returns its message. */
async function queueRevocation(store: Store, keys: FederationKeys, at: Timestamp): Promise<string> {
  const [revocation] = keys.statements().revocations;
  if (revocation === undefined) throw new RangeError('no revocation in the store');
  const { entry, message } = statementRow(keys, { type: 'revocation', text: revocation.statement }, at);
  await store.write([entry]);
  return message;
}
