import { writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Frontier } from '../../protocol/merkle/frontier.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { makeRecord, recordLeaf, type WrittenRecord } from '../../protocol/chain/record.ts';
import { type SignedStatement, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { PreparedDraft } from './draft.ts';
import type { TentativeHeads } from '../records/sources/sources.ts';

export interface BuiltRecord extends WrittenRecord {
  readonly leaf: Uint8Array;
}

/** A group in memory: ordered, hashed and signed, not yet on the disk. */
export interface BuiltGroup {
  readonly group: Group;
  readonly signed: SignedStatement;
  readonly records: readonly BuiltRecord[];
  readonly heads: TentativeHeads;
}

/**
 * Gives drafts their places from `first` on and signs them as one tree. Moves `heads`; touches nothing durable, so a
 * group that cannot be written is simply dropped.
 */
export async function buildGroup(
  node: NodeId,
  signer: Signer,
  drafts: readonly PreparedDraft[],
  first: number,
  at: Timestamp,
  heads: TentativeHeads,
): Promise<BuiltGroup> {
  const records: BuiltRecord[] = [];
  const tree = new Frontier(nativeSuite);
  await new TimeSlices().each(drafts, (prepared, i) => {
    const record = buildRecord(node, prepared, first + i, at, heads);
    tree.append(record.leaf);
    records.push(record);
  });
  const group: Group = {
    v: 1,
    type: 'group',
    node,
    first,
    size: records.length,
    root: writeSha256(tree.root()),
    keyId: signer.keyId,
    signedAt: at,
  };
  return { group, signed: await signStatement(groupStatement, group, signer), records, heads };
}

function buildRecord(
  node: NodeId,
  { draft, id, payloadHash, claims, links }: PreparedDraft,
  seq: number,
  submittedAt: Timestamp,
  heads: TentativeHeads,
): BuiltRecord {
  const head = heads.get(draft);
  const { record, texts } = makeRecord(nativeSuite, {
    account: draft.account,
    claims,
    id,
    kind: draft.kind,
    links,
    node,
    payloadHash,
    seq,
    sourceId: draft.sourceId,
    sourcePrev: head?.leaf ?? null,
    sourceSeq: (head?.sourceSeq ?? 0) + 1,
    submittedAt,
  });
  const leaf = recordLeaf(nativeSuite, texts.head);
  heads.move({ record, leaf });
  return { record, texts, leaf };
}
