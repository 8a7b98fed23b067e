import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { splitHashes, TILE_WIDTH } from '../../protocol/merkle/tiles.ts';
import { inclusionPath } from '../../protocol/merkle/tree.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { type AttestationRecord, recordLeaf } from '../../protocol/chain/record.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readGroup, readRecord, readRecordTexts } from '../records/record-reader.ts';
import { readBatchOf, readBatchPath, type StoredBatch, tileTable } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';

/** Where the decisions of batches are found. */
export interface EvidenceSources {
  readonly store: Store;
  readonly decisionOf: (node: NodeId, batch: number) => Promise<Decision | undefined>;
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
    return await gather(sources, id);
  } catch (error) {
    throw new EvidenceDamagedError(`the stored evidence about ${id} cannot be read`, { cause: error });
  }
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

async function gather(sources: EvidenceSources, id: RecordId): Promise<Evidence | undefined> {
  const { store } = sources;
  const stored = await readRecord(store, id);
  if (stored === undefined) return undefined;
  const { record, texts } = stored;
  const [receipt, batch] = await Promise.all([
    readGroup(store, record.node, record.seq),
    readBatchOf(store, record.node, record.seq),
  ]);
  if (receipt === undefined) throw new RangeError(`the receipt of ${id} is missing`);
  const [leaves, sealed, decision] = await Promise.all([
    groupLeaves(store, receipt.group, batch),
    batch && batchProof(store, record, batch),
    batch && decisionNaming(sources.decisionOf, batch),
  ]);
  const path = inclusionPath(nativeSuite, leaves, record.seq - receipt.group.first);
  return {
    record,
    batch,
    proof: { record: texts, receipt: { ...receipt.signed, path: path.map(writeSha256) }, batch: sealed ?? null },
    decision: decision ?? null,
  };
}

async function batchProof(
  store: Store,
  { seq }: AttestationRecord,
  { envelope, signed }: StoredBatch,
): Promise<NonNullable<RecordProof['batch']>> {
  const path = await readBatchPath(store, envelope, seq);
  return { envelope: signed.statement, signature: signed.signature, path: path.map(writeSha256) };
}

function envelopeNamedBy({ message }: Decision): Sha256Hash | undefined {
  const named = parseLedgerMessage(message);
  return named.type === 'batch' ? named.envelope : undefined;
}

/** Leaf hashes of a group: from the tiles of its batch, or from its records while it is unsealed. */
async function groupLeaves(store: Store, group: Group, batch: StoredBatch | undefined): Promise<Uint8Array[]> {
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
    const hashes = await tileTable.get(store, envelope.node, envelope.batch, 0, tile);
    if (hashes === undefined) throw new RangeError(`tile 0/${tile} of ${envelope.node}/${envelope.batch} is missing`);
    leaves.push(...splitHashes(hashes));
  }
  const skip = from - firstTile * TILE_WIDTH;
  return leaves.slice(skip, skip + group.size);
}
