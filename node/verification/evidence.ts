import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import { type NodeId, nodeOfRecord, type RecordId } from '../../protocol/ids.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { splitHashes, TILE_WIDTH } from '../../protocol/merkle/tiles.ts';
import type { Group } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { type AttestationRecord, recordLeaf, type WrittenRecord } from '../../protocol/chain/record.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { splitTexts } from '../records/record-lines.ts';
import { RecordDamagedError, readGroup, readRecordTexts, tryOpenRecord } from '../records/record-reader.ts';
import { bodyRowFirst, bodyTable, recordIndex } from '../records/record-tables.ts';
import { readBatchOf, type StoredBatch, tileTable } from '../sealing/batch-tables.ts';
import type { Reads } from '../store/store.ts';
import type { ProofTrees } from './proof-trees.ts';

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

/** The texts that prove one record, but for its decision. */
export type RecordProof = Pick<Bundle, 'record' | 'receipt' | 'batch'>;

/** All that this node holds about one record, and what it was read from. */
export interface Evidence {
  readonly record: AttestationRecord;
  readonly batch: StoredBatch | undefined;
  readonly proof: RecordProof;
  /** The decision in this node's log that names the record's envelope; null while there is none. */
  readonly decision: Decision | null;
}

/** What the store holds about a record cannot be read as it was written: a record, receipt, envelope, tile or index row. */
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
  const row = await bodyTable.get(store, node, first);
  const texts = row === undefined ? undefined : splitTexts(row)[seq - first];
  const record = texts && tryOpenRecord(texts);
  if (texts === undefined || record?.id !== id) throw new RecordDamagedError(`the stored record of ${id} is damaged`);
  return { record, texts, receipt };
}

/** All evidence about a record that was read. Throws where batch, tiles or decision do not read. */
export async function completed(sources: EvidenceSources, received: ReceivedRecord): Promise<Evidence> {
  const { store, trees, decisionOf } = sources;
  const { record, texts } = received;
  const { receipt, batch } = await readSealed(store, received);
  const [path, sealed, decision] = await Promise.all([
    trees.groupPath(receipt.group, record.seq, () => groupLeaves(store, receipt.group, batch)),
    batch && batchProof(sources, record, batch),
    batch && decisionNaming(decisionOf, batch),
  ]);
  return {
    record,
    batch,
    proof: { record: texts, receipt: { ...receipt.signed, path: path.map(writeSha256) }, batch: sealed ?? null },
    decision: decision ?? null,
  };
}

/**
 * The batch of a record, and the receipt by the same key: that of the batch's own key takes the place of one that was read
 * before the batch was sealed, or signed anew. While it is being signed anew there is none.
 */
async function readSealed(store: Reads, { record: { node, seq }, receipt }: ReceivedRecord) {
  const batch = await readBatchOf(store, node, seq);
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

/** Path of a record to the root of its batch. Throws `RangeError` where the store misses a tile, or part of one. */
export function readBatchPath(
  { store, trees }: Pick<EvidenceSources, 'store' | 'trees'>,
  envelope: Envelope,
  seq: number,
): Promise<Uint8Array[]> {
  const { node, batch } = envelope;
  return trees.batchPath(envelope, seq, (level, index) => readTile(store, node, batch, level, index));
}

async function batchProof(
  sources: EvidenceSources,
  { seq }: AttestationRecord,
  { envelope, signed }: StoredBatch,
): Promise<NonNullable<RecordProof['batch']>> {
  const path = await readBatchPath(sources, envelope, seq);
  return { envelope: signed.statement, signature: signed.signature, path: path.map(writeSha256) };
}

async function readTile(store: Reads, node: NodeId, batch: number, level: number, index: number): Promise<Uint8Array> {
  const hashes = await tileTable.get(store, node, batch, level, index);
  if (hashes === undefined) throw new RangeError(`tile ${level}/${index} of ${node}/${batch} is missing`);
  return hashes;
}

function envelopeNamedBy({ message }: Decision): Sha256Hash | undefined {
  const named = parseLedgerMessage(message);
  return named.type === 'batch' ? named.envelope : undefined;
}

/** Leaf hashes of a group: from the tiles of its batch, or from its records while it is unsealed. */
async function groupLeaves(store: Reads, group: Group, batch: StoredBatch | undefined): Promise<Uint8Array[]> {
  const leaves: Uint8Array[] = [];
  if (batch === undefined) {
    for await (const { head } of readRecordTexts(store, group.node, group.first, group.size)) {
      leaves.push(recordLeaf(nativeSuite, head));
    }
    return leaves;
  }
  const { envelope } = batch;
  const from = group.first - envelope.first;
  const firstTile = Math.floor(from / TILE_WIDTH);
  const lastTile = Math.floor((from + group.size - 1) / TILE_WIDTH);
  for (let tile = firstTile; tile <= lastTile; tile++) {
    leaves.push(...splitHashes(await readTile(store, envelope.node, envelope.batch, 0, tile)));
  }
  const skip = from - firstTile * TILE_WIDTH;
  return leaves.slice(skip, skip + group.size);
}
