import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import { type NodeId, nodeOfRecord, type RecordId } from '../../protocol/ids.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import type { Group } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { ReadTexts } from '../../protocol/chain/read-texts.ts';
import {
  type AttestationRecord,
  recordLeaf,
  type WholeTexts,
  type WrittenRecord,
} from '../../protocol/chain/record.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { openedBodyTable } from '../records/opened-bodies.ts';
import { RecordDamagedError, readGroup, readRecordTexts } from '../records/record-reader.ts';
import { bodyRowFirst, recordIndex } from '../records/record-tables.ts';
import { readBatchOf, type StoredBatch, tileTable } from '../records/batch-tables.ts';
import type { Reads } from '../store/store.ts';
import type { ProofTrees, ReadTile } from './proof-trees.ts';

/** Where the decisions of batches are found. */
export interface EvidenceSources {
  readonly store: Reads;
  readonly trees: ProofTrees;
  readonly decisionOf: (node: NodeId, batch: number) => Promise<Decision | undefined>;
}

/** A record as it is stored, and the signed group that it is in. */
export interface ReceivedRecord extends WrittenRecord {
  readonly receipt: { readonly group: Group; readonly signed: SignedStatement };
}

/** A sealed batch, and the decision in this node's log that names its envelope; null while there is none. */
export interface DecidedBatch extends StoredBatch {
  readonly decision: Decision | null;
}

/** The texts that prove one record, but for its decision. */
export type RecordProof = Pick<Bundle, 'record' | 'receipt' | 'batch'>;

/** All that this node holds about one record, and what it was read from. */
export interface Evidence {
  readonly record: AttestationRecord;
  readonly batch: StoredBatch | undefined;
  readonly proof: RecordProof;
  /** The decision in this node's log that names the record's envelope; null while there is none. */
  readonly decision: Decision | null;
  /** Whether this store holds the record; else its node was asked for it, and what names it may be missing here. */
  readonly isHeld: boolean;
}

/**
 * What the store holds about a record cannot be read as it was written: a record, receipt, envelope, tile or index row.
 */
export class EvidenceDamagedError extends Error {
  override readonly name = 'EvidenceDamagedError';
}

/**
 * Gathers the evidence about a record of any node; undefined where this node has not got it. Throws
 * `EvidenceDamagedError`.
 */
export async function readEvidence(sources: EvidenceSources, id: RecordId): Promise<Evidence | undefined> {
  try {
    const received = await readReceived(sources.store, id);
    return received && (await completed(sources, received));
  } catch (error) {
    throw new EvidenceDamagedError(`the stored evidence about ${id} cannot be read`, { cause: error });
  }
}

/**
 * The record of an id with its receipt, of whichever node; undefined where this node has not got it. Throws
 * `RecordDamagedError` where index and body disagree, and others where the receipt does not read.
 */
export async function readReceived(store: Reads, id: RecordId): Promise<ReceivedRecord | undefined> {
  const seq = await recordIndex.get(store, id);
  if (seq === undefined) return undefined;
  const node = nodeOfRecord(id);
  const receipt = await readGroup(store, node, seq);
  if (receipt === undefined) throw new RangeError(`the receipt of ${id} is missing`);
  const first = bodyRowFirst(receipt.group, seq);
  const row = await openedBodyTable.get(store, node, first);
  const stored = row?.[seq - first];
  const texts = stored && tryReadTexts(stored);
  if (texts?.headRead.id !== id) throw new RecordDamagedError(`the stored record of ${id} is damaged`);
  return { record: texts.record, texts, receipt };
}

/** The texts of a record, read; undefined where they are not whole. */
function tryReadTexts(texts: WholeTexts): ReadTexts | undefined {
  try {
    return new ReadTexts(nativeSuite, texts);
  } catch {
    return undefined;
  }
}

/** All evidence about a record that was read. Throws where batch, tiles or decision do not read. */
async function completed(sources: EvidenceSources, received: ReceivedRecord): Promise<Evidence> {
  const { node, seq } = received.record;
  const batch = await readBatchOf(sources.store, node, seq);
  return completedIn(
    sources,
    received,
    batch && { ...batch, decision: await decisionNaming(sources.decisionOf, batch) },
  );
}

/** The same in the batch that the record is in; undefined while it is unsealed. */
export async function completedIn(
  sources: EvidenceSources,
  received: ReceivedRecord,
  holding: DecidedBatch | undefined,
): Promise<Evidence> {
  const { record, texts } = received;
  const { receipt, batch } = await byOneKey(sources.store, received, holding);
  // The batch's first: the group's leaves are had of its tiles where those are whole.
  const sealed = batch && (await batchProof(sources, record, batch));
  const path = await sources.trees.groupPath(receipt.group, record.seq, (from, count) =>
    groupLeaves(sources, receipt.group, batch, from, count),
  );
  return {
    record,
    batch: batch && { envelope: batch.envelope, signed: batch.signed },
    proof: { record: texts, receipt: { ...receipt.signed, path: path.map(writeSha256) }, batch: sealed ?? null },
    decision: batch?.decision ?? null,
    isHeld: true,
  };
}

/**
 * The batch of a record, and the receipt by the same key: that of the batch's own key takes the place of one that was
 * read before the batch was sealed, or signed again. While it is being signed again there is none.
 */
async function byOneKey(
  store: Reads,
  { record: { node, seq }, receipt }: ReceivedRecord,
  batch: DecidedBatch | undefined,
) {
  const isBy = ({ group }: ReceivedRecord['receipt']) => group.keyId === batch?.envelope.keyId;
  if (batch === undefined || isBy(receipt)) return { receipt, batch };
  const now = (await readGroup(store, node, seq)) ?? receipt;
  return { receipt: now, batch: isBy(now) ? batch : undefined };
}

/** The decision of a batch, where it names this very envelope: one that names a rival is none for it. */
export async function decisionNaming(
  decisionOf: EvidenceSources['decisionOf'],
  { envelope, signed }: StoredBatch,
): Promise<Decision | null> {
  const decision = await decisionOf(envelope.node, envelope.batch);
  if (decision === undefined) return null;
  return envelopeNamedBy(decision) === hashText(nativeSuite, signed.statement) ? decision : null;
}

/**
 * Path of a record to the root of its batch. Throws `RangeError` where the store misses what no kept tree has of a
 * tile.
 */
export function readBatchPath(
  { store, trees }: Pick<EvidenceSources, 'store' | 'trees'>,
  envelope: Envelope,
  seq: number,
): Promise<Uint8Array[]> {
  return trees.batchPath(envelope, seq, tilesOf(store, envelope));
}

async function batchProof(
  sources: EvidenceSources,
  { seq }: AttestationRecord,
  { envelope, signed }: StoredBatch,
): Promise<NonNullable<RecordProof['batch']>> {
  const path = await readBatchPath(sources, envelope, seq);
  return { envelope: signed.statement, signature: signed.signature, path: path.map(writeSha256) };
}

/** Reads tiles of a batch. They reject with `RangeError` where the store misses one. */
export function tilesOf(store: Reads, { node, batch }: Envelope): ReadTile {
  return async (level, index) => {
    const hashes = await tileTable.get(store, node, batch, level, index);
    if (hashes === undefined) throw new RangeError(`tile ${level}/${index} of ${node}/${batch} is missing`);
    return hashes;
  };
}

function envelopeNamedBy({ message }: Decision): Sha256Hash | undefined {
  const named = parseLedgerMessage(message);
  return named.type === 'batch' ? named.envelope : undefined;
}

/** Leaf hashes of a group from `from` on: of its batch, or from its records while it is unsealed. */
async function groupLeaves(
  { store, trees }: EvidenceSources,
  { node, first }: Group,
  batch: StoredBatch | undefined,
  from: number,
  count: number,
): Promise<Uint8Array[]> {
  const seq = first + from;
  if (batch !== undefined) return trees.batchLeaves(batch.envelope, seq, count, tilesOf(store, batch.envelope));
  const leaves: Uint8Array[] = [];
  for await (const { head } of readRecordTexts(store, node, seq, count)) leaves.push(recordLeaf(nativeSuite, head));
  return leaves;
}
