import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { groupTable } from '../../records/record-tables.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { envelopeTable, readBatch, readHead, type StoredBatch } from '../../records/batch-tables.ts';
import { groupAnew } from '../../log/group-anew.ts';

/** Groups whose signatures are replaced in one write. */
const GROUPS_A_WRITE = 64;

export interface SignAnewOptions {
  readonly store: Store;
  readonly node: NodeId;
  /** The last own batch that was decided. */
  readonly decided: number;
  /** The key that signs from now on. */
  readonly signer: Signer;
  /** Throws where nothing may be signed any more. Asked before each write; the key asks for itself. */
  readonly requireRunning: () => void;
  /** Whether a revocation of this own key is in force. */
  readonly isRevoked: (keyId: Sha256Hash) => boolean;
  /** Called before envelopes are replaced: nothing of own batches from that number on may be sent any more. */
  readonly withdraw: (from: number) => Promise<void>;
  /** Rows that land in the write that replaces the envelopes. */
  readonly besides: (batches: readonly StoredBatch[]) => readonly Operation[];
}

/**
 * Signs what a revoked key sealed and the log has not decided by the key that signs now (protocol §2), envelopes with
 * all their groups, and groups that are not sealed yet by whichever other key. Only `keyId`, `prev` and signatures
 * change. Returns the batches that were signed again, in order: none where no undecided envelope is by a revoked key.
 *
 * Crash order: the groups first, some in a write; each is whole by itself. Then all envelopes with what is derived from
 * them in one atomic write, so that the chain is the old one or the new one. A start goes on with what is left.
 * Meanwhile a batch that no log decides any more may hold groups by either key: it is shown to nobody.
 */
export async function signAnew(options: SignAnewOptions): Promise<readonly StoredBatch[]> {
  const { store, node, decided, isRevoked, requireRunning, withdraw, besides } = options;
  const undecided = await readBatches(store, node, decided + 1);
  const last = await readBatch(store, node, decided);
  const at = undecided.findIndex(({ envelope }) => isRevoked(envelope.keyId));
  const before = at > 0 ? undecided[at - 1] : last;
  const due = at < 0 ? [] : undecided.slice(at);
  const [first] = due;
  await signGroups(options, first?.envelope.first ?? (await unsealedFrom(store, node)));
  if (first === undefined) return [];
  const batches = await signEnvelopes(options, due, before);
  await withdraw(first.envelope.batch);
  requireRunning();
  await store.write([
    ...batches.map(({ envelope, signed }) => envelopeTable.put([node, envelope.batch], signed)),
    ...besides(batches),
  ]);
  return batches;
}

async function unsealedFrom(store: Store, node: NodeId): Promise<number> {
  const head = await readHead(store, node);
  return head === undefined ? 1 : head.envelope.first + head.envelope.size;
}

async function readBatches(store: Store, node: NodeId, from: number): Promise<StoredBatch[]> {
  const batches: StoredBatch[] = [];
  for await (const [, signed] of envelopeTable.under(store, [node], { from })) {
    batches.push({ envelope: envelopeStatement.parse(signed.statement), signed });
  }
  return batches;
}

async function signEnvelopes(
  { signer }: SignAnewOptions,
  due: readonly StoredBatch[],
  before: StoredBatch | undefined,
): Promise<StoredBatch[]> {
  const batches: StoredBatch[] = [];
  let prev = before === undefined ? null : hashText(nativeSuite, before.signed.statement);
  for (const { envelope: old } of due) {
    const envelope: Envelope = { ...old, keyId: signer.keyId, prev };
    const signed = await signStatement(envelopeStatement, envelope, signer);
    batches.push({ envelope, signed });
    prev = hashText(nativeSuite, signed.statement);
  }
  return batches;
}

/** Of the groups from a record on those that are by another key. */
async function signGroups({ store, node, signer, requireRunning }: SignAnewOptions, from: number): Promise<void> {
  const slices = new TimeSlices();
  let operations: Operation[] = [];
  const write = async (): Promise<void> => {
    requireRunning();
    await store.write(operations);
    operations = [];
  };
  for await (const [, held] of groupTable.under(store, [node], { from })) {
    if (slices.isOver) await slices.rest();
    const anew = await groupAnew(held, signer);
    if (anew === null) continue;
    operations.push(groupTable.put([node, anew.group.first], anew.signed));
    if (operations.length >= GROUPS_A_WRITE) await write();
  }
  if (operations.length > 0) await write();
}
