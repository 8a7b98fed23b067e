import { takeAnchors } from '../../../node/anchoring/anchor-intake.ts';
import { readAnchor } from '../../../node/anchoring/anchors.ts';
import { transactionId } from '../../../node/anchoring/ledger-client.ts';
import { closeOperations, freeze, noteSubmitted, readOutbox, rowOperation } from '../../../node/anchoring/outbox.ts';
import { SpendGuard } from '../../../node/anchoring/spend-guard.ts';
import { INITIAL_HEAD, linkMessages } from '../../../node/anchoring/topic-links.ts';
import { topicHeadTable } from '../../../node/anchoring/topic-reader.ts';
import type { FederationKeys } from '../../../node/federation/federation-keys.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { StoredBatch } from '../../../node/sealing/batch-tables.ts';
import type { Store } from '../../../node/store/store.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { hashBytes } from '../../../protocol/hash.ts';
import { batchAnchor, writeAnchorMessage } from '../../../protocol/ledger/anchor-message.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { TestTopic } from '../../fixtures/federation-topic.ts';

/** The anchor message of a batch. */
export function messageOf(keys: FederationKeys, { envelope, signed }: StoredBatch): string {
  return writeAnchorMessage(batchAnchor(nativeSuite, keys.rosters.federation, envelope, signed.statement));
}

/** All of `us`, and all but the last two of `eu`, of which one is submitted and one still queued. */
export async function anchorAll(
  store: Store,
  keys: FederationKeys,
  topic: TestTopic,
  own: readonly StoredBatch[],
  held: readonly StoredBatch[],
  now: () => number,
): Promise<void> {
  const confirmed = own.slice(0, -2);
  const [first] = held;
  const again = first === undefined ? [] : [first];
  const anchors = [...held, ...confirmed, ...again].map((batch) => topic.submit(messageOf(keys, batch), now()));
  const messages = anchors.map((anchor) => ({
    sequence: Number(anchor.sequence),
    consensusTimestamp: anchor.consensusTimestamp,
    payer: anchor.payer,
    message: utf8(anchor.message),
    runningHash: hashBytes(anchor.runningHash),
    transactionId: null,
  }));
  const { head, linked } = linkMessages(INITIAL_HEAD, topic.topicId, messages);
  const identity = { network: topic.network, topicId: topic.topicId, federation: keys.rosters.federation };
  const { operations } = await takeAnchors(store, identity, linked);
  await store.write([...operations, topicHeadTable.put([topic.network, topic.topicId], head)]);
  const guard = await SpendGuard.open(store);
  for (const { envelope } of own.slice(0, -1)) {
    const row = await readOutbox(store, envelope.batch);
    const grant = guard.admit(now());
    if (row === undefined || grant.kind === 'waits') throw new RangeError('no outbox row');
    const id = transactionId(`0.0.1001@1763717400.${String(envelope.batch).padStart(9, '0')}`);
    const prepared = { transactionId: id, bytes: 'AAAA', validUntil: 1_763_717_520 };
    const submitted = noteSubmitted(freeze(row, prepared, timestampOf(now())), timestampOf(now()));
    await store.write([rowOperation(submitted), grant.record]);
    guard.commit(grant);
    const anchor = await readAnchor(store, envelope.node, envelope.batch, row.message);
    if (anchor !== undefined) await store.write(closeOperations(submitted, timestampOf(now())));
  }
}
