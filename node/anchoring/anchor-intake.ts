import { decodeUtf8 } from '../../protocol/bytes.ts';
import { type Sha256Hash, writeSha384 } from '../../protocol/hash.ts';
import type { EntityId } from '../../protocol/ids.ts';
import {
  type BatchMessage,
  type LedgerMessage,
  parseLedgerMessage,
  type RevocationMessage,
  type RosterMessage,
} from '../../protocol/log/message.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import {
  type AnchorRow,
  anchorTable,
  MAX_SIGHTINGS,
  messageHash,
  type StatementAnchorRow,
  statementAnchorTable,
} from './anchors.ts';
import type { LinkedMessage } from '../topic/topic-links.ts';

/** The topic that is read, and whose anchors count. */
export interface TopicIdentity {
  readonly network: string;
  readonly topicId: EntityId;
  /** Hash of the genesis roster. */
  readonly federation: Sha256Hash;
}

/** What a page of linked messages adds to the store. */
export interface AnchorIntake {
  readonly operations: Operation[];
  /** First occurrences. */
  readonly anchors: AnchorRow[];
  /** First occurrences of messages that name statements. */
  readonly statements: StatementAnchorRow[];
  /** Messages that are no anchor of this federation. */
  readonly skipped: number;
}

/** Sorts linked messages into rows. Reads the store and writes nothing. */
export async function takeAnchors(
  store: Store,
  topic: TopicIdentity,
  messages: readonly LinkedMessage[],
): Promise<AnchorIntake> {
  const rows = new Map<string, AnchorRow>();
  const anchors: AnchorRow[] = [];
  const statements = new Map<string, StatementAnchorRow>();
  let skipped = 0;
  for (const message of messages) {
    const found = parseOwn(topic, message);
    if (found === null) {
      skipped++;
      continue;
    }
    if (found.anchor.type !== 'batch') {
      const row = statementRowOf(topic, message, found.text, found.anchor);
      const key = statementAnchorTable.key(...statementKey(row));
      if (!statements.has(key) && (await store.get(key)) === undefined) statements.set(key, row);
      continue;
    }
    const row = rowOf(topic, message, found.text, found.anchor);
    const key = anchorTable.key(row.node, row.batch, messageHash(found.text));
    const earlier = rows.get(key) ?? (await anchorTable.get(store, row.node, row.batch, messageHash(found.text)));
    if (earlier !== undefined) {
      rows.set(key, sighted(earlier, message));
      continue;
    }
    rows.set(key, row);
    anchors.push(row);
  }
  const operations = [...rows.values()].map((row) => anchorTable.put(keyOf(row), row));
  const named = [...statements.values()];
  operations.push(...named.map((row) => statementAnchorTable.put(statementKey(row), row)));
  return { operations, anchors, statements: named, skipped };
}

function keyOf({ node, batch, anchor }: AnchorRow): [string, number, string] {
  return [node, batch, messageHash(anchor.message)];
}

function statementKey({ statement, anchor }: StatementAnchorRow): [string, string] {
  return [statement, messageHash(anchor.message)];
}

function parseOwn(
  { federation }: TopicIdentity,
  { message }: LinkedMessage,
): { readonly text: string; readonly anchor: LedgerMessage } | null {
  try {
    const text = decodeUtf8(message);
    const anchor = parseLedgerMessage(text);
    return anchor.federation === federation ? { text, anchor } : null;
  } catch {
    return null;
  }
}

function rowOf(topic: TopicIdentity, message: LinkedMessage, text: string, anchor: BatchMessage): AnchorRow {
  const { node, batch, envelope } = anchor;
  return { node, batch, envelope, anchor: placeOf(topic, message, text), alsoAnchoredAt: [] };
}

function statementRowOf(
  topic: TopicIdentity,
  message: LinkedMessage,
  text: string,
  { type, statement }: RosterMessage | RevocationMessage,
): StatementAnchorRow {
  return { type, statement, anchor: placeOf(topic, message, text) };
}

function placeOf({ network, topicId }: TopicIdentity, message: LinkedMessage, text: string): AnchorRow['anchor'] {
  return {
    network,
    topicId,
    payer: message.payer,
    sequence: String(message.sequence),
    consensusTimestamp: message.consensusTimestamp,
    transactionId: message.transactionId,
    message: text,
    previousRunningHash: message.previousRunningHash,
    runningHash: writeSha384(message.runningHash),
  };
}

function sighted(row: AnchorRow, { sequence, consensusTimestamp }: LinkedMessage): AnchorRow {
  if (row.alsoAnchoredAt.length >= MAX_SIGHTINGS) return row;
  return { ...row, alsoAnchoredAt: [...row.alsoAnchoredAt, { sequence: String(sequence), consensusTimestamp }] };
}
