import type { Bundle, BundleAnchor, Proof } from '../../protocol/bundle/bundle.ts';
import { BUNDLE_FORMAT } from '../../protocol/bundle/bundle.ts';
import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { splitHashes, TILE_WIDTH } from '../../protocol/merkle/tiles.ts';
import { inclusionPath } from '../../protocol/merkle/tree.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { type AttestationRecord, recordLeaf } from '../../protocol/chain/record.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readGroup, readRecord, readRecordTexts } from '../records/record-reader.ts';
import { readBatchOf, readBatchPath, type StoredBatch, tileTable } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';

/** Where the anchors and cosignatures of batches are found. */
export interface EvidenceSources {
  readonly store: Store;
  readonly anchorOf: (node: NodeId, batch: number, envelope: Sha256Hash) => Promise<BundleAnchor | undefined>;
  readonly cosignaturesOf: (envelope: Envelope) => Promise<readonly SignedStatement[]>;
}

/** All that this node holds about one record: a bundle without keys, rosters and disclosure, and what it was read from. */
export interface Evidence {
  readonly record: AttestationRecord;
  readonly batch: StoredBatch | undefined;
  readonly bundle: Bundle;
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

/** A bundle of one proof alone. Members beside those of a proof are left behind. */
export function bareBundle(proof: Proof): Bundle {
  return { format: BUNDLE_FORMAT, ...bareProof(proof), keys: [], revocations: [], rosters: [] };
}

/** The proof that a bundle is about. */
export function bareProof({ record, receipt, batch, cosignatures, anchor }: Proof): Proof {
  return { record, receipt, batch, cosignatures, anchor };
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
  const [leaves, sealed] = await Promise.all([
    groupLeaves(store, receipt.group, batch),
    batchEvidence(sources, record, batch),
  ]);
  const path = inclusionPath(nativeSuite, leaves, record.seq - receipt.group.first);
  return {
    record,
    batch,
    bundle: bareBundle({ record: texts, receipt: { ...receipt.signed, path: path.map(writeSha256) }, ...sealed }),
  };
}

async function batchEvidence(
  { store, anchorOf, cosignaturesOf }: EvidenceSources,
  record: AttestationRecord,
  stored: StoredBatch | undefined,
): Promise<Pick<Bundle, 'batch' | 'anchor' | 'cosignatures'>> {
  if (stored === undefined) return { batch: null, anchor: null, cosignatures: [] };
  const { envelope, signed } = stored;
  const hash = hashText(nativeSuite, signed.statement);
  const [path, found, anchor] = await Promise.all([
    readBatchPath(store, envelope, record.seq),
    cosignaturesOf(envelope),
    anchorOf(envelope.node, envelope.batch, hash),
  ]);
  // A cosignature of a rival envelope is evidence against the node, not for this record.
  const cosignatures = found.filter((cosignature) => cosignature.statement.includes(hash));
  return {
    batch: { envelope: signed.statement, signature: signed.signature, path: path.map(writeSha256) },
    anchor: anchor ?? null,
    cosignatures,
  };
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
