import { writeSha256 } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { MadeGroup, PlacedRecord } from '../../../protocol/chain/batch-walk.ts';
import { isTooLong, namesBody, recordLeaf, type RecordTexts } from '../../../protocol/chain/record.ts';
import { TileTree } from '../../../protocol/merkle/tiles.ts';
import { merkleRoot } from '../../../protocol/merkle/tree.ts';
import { type Group, groupStatement } from '../../../protocol/statement/group.ts';
import type { SignedStatement } from '../../../protocol/statement/statement.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { RecordDamagedError } from '../../records/record-reader.ts';
import { groupTable } from '../../records/record-tables.ts';
import { storedGroups } from '../../log/stored-chain.ts';
import type { Store } from '../../store/store.ts';

/**
 * Most of made groups that a batch holds until it is sealed; the groups of a larger one are read back from the store.
 * What a group takes is its signature and statement, and so much for each of its records. In bytes.
 */
export const MAX_MADE_BYTES = 8 << 20;
export const MADE_RECORD_BYTES = 512;

/** A group that was made in this process, and is on the disk. */
export interface CommittedGroup {
  readonly group: Group;
  readonly signed: SignedStatement;
  readonly records: readonly (PlacedRecord & { readonly texts: RecordTexts })[];
}

/** The tree that grows under the records not yet sealed. */
export class OpenBatch {
  readonly first: number;
  readonly tree = new TileTree(nativeSuite);
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;
  #made: MadeGroup[] | null = [];
  #madeBytes = 0;

  constructor(first: number) {
    this.first = first;
  }

  /** The record after the last. */
  get next(): number {
    return this.first + this.tree.size;
  }

  /** Times of its first and its last group, in epoch milliseconds; infinite where it has none. */
  get times(): { readonly from: number; readonly to: number } {
    return { from: this.#from, to: this.#to };
  }

  /** Its groups, where this process made all of them and has them at hand; null where one must be read. */
  get made(): readonly MadeGroup[] | null {
    return this.#made;
  }

  /** Its groups are read from the store when its turn comes. Once it is cut. */
  forgetMade(): void {
    this.#made = null;
  }

  /** Takes a group that was made in this process. */
  add({ group, signed, records }: CommittedGroup): void {
    this.#append(
      records.map(({ leaf }) => leaf),
      group,
    );
    this.#madeBytes += signed.statement.length + signed.signature.length + records.length * MADE_RECORD_BYTES;
    const isReadable = !records.some(({ texts }) => isTooLong(texts));
    if (!isReadable || this.#madeBytes > MAX_MADE_BYTES) this.#made = null;
    this.#made?.push({ signed, made: records.map(placed) });
  }

  /** Takes the leaves of a group that was found on the disk. */
  addFound(leaves: readonly Uint8Array[], group: Group): void {
    this.#append(leaves, group);
    this.#made = null;
  }

  #append(leaves: readonly Uint8Array[], { signedAt }: Group): void {
    const at = Date.parse(signedAt);
    for (const leaf of leaves) this.tree.append(leaf);
    this.#from = Math.min(this.#from, at);
    this.#to = Math.max(this.#to, at);
  }
}

/** Lets go of all else of the record, and of the memory that its leaf shares with others. */
function placed({ record, leaf }: PlacedRecord): PlacedRecord {
  const { account, id, node, seq, sourceId, sourcePrev, sourceSeq, submittedAt } = record;
  return {
    record: { account, id, node, seq, sourceId, sourcePrev, sourceSeq, submittedAt },
    leaf: new Uint8Array(leaf),
  };
}

/**
 * Rebuilds the open batch from the stored bytes of the records from `first` on, or of `size` of them. Each group must
 * have the root that was signed when it was recorded: a record that changed on the disk is never sealed. Throws
 * `RecordDamagedError`.
 */
export async function recoverOpenBatch(
  store: Store,
  node: NodeId,
  first: number,
  size = Number.POSITIVE_INFINITY,
): Promise<OpenBatch> {
  const [open = new OpenBatch(first)] = await recover(store, node, { first, size, limit: Number.POSITIVE_INFINITY });
  return open;
}

/**
 * The same, cut into batches of at most `limit` records that split no group: at least one, of which the last is open.
 */
export function recoverOpenBatches(
  store: Store,
  node: NodeId,
  first: number,
  limit: number,
): Promise<readonly OpenBatch[]> {
  return recover(store, node, { first, size: Number.POSITIVE_INFINITY, limit });
}

async function recover(
  store: Store,
  node: NodeId,
  { first, size: most, limit }: { readonly first: number; readonly size: number; readonly limit: number },
): Promise<readonly OpenBatch[]> {
  let open = new OpenBatch(first);
  const batches = [open];
  const last = await groupTable.last(store, [node]);
  if (last === undefined) return batches;
  const { first: lastFirst, size } = groupStatement.parse(last[1].statement);
  const records = { node, first, size: Math.min(most, Math.max(0, lastFirst + size - first)) };
  for await (const { signed, records: texts } of storedGroups(store, records)) {
    const group = groupStatement.parse(signed.statement);
    // A body that its head does not name is lost: what was signed cannot be shown any more.
    const whole = texts.filter((text) => namesBody(nativeSuite, text));
    const leaves = whole.map(({ head }) => recordLeaf(nativeSuite, head));
    requireWhole(group, open.next, leaves);
    if (open.tree.size > 0 && open.tree.size + leaves.length > limit) {
      open = new OpenBatch(open.next);
      batches.push(open);
    }
    open.addFound(leaves, group);
  }
  return batches;
}

function requireWhole(group: Group, expectedFirst: number, leaves: readonly Uint8Array[]): void {
  const { first, size, root } = group;
  const isWhole = first === expectedFirst && leaves.length === size;
  if (isWhole && writeSha256(merkleRoot(nativeSuite, leaves)) === root) return;
  throw new RecordDamagedError(`the stored records ${first}–${first + size - 1} are not those that were signed`);
}
