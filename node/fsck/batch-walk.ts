import { equalBytes } from '../../protocol/bytes.ts';
import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { TileTree } from '../../protocol/merkle/tiles.ts';
import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import type { Group } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { ownVouchedTable } from '../records/chain-tables.ts';
import { groupTable } from '../records/record-tables.ts';
import { batchFirstTable, envelopeTable, tileTable } from '../records/batch-tables.ts';
import { type Check, checkSigned } from './check.ts';
import { RowCursor } from './row-cursor.ts';

export const BATCH_TABLES = [envelopeTable, batchFirstTable, tileTable];

/** The batch that the groups fall into now. */
interface CurrentBatch {
  readonly envelope: Envelope;
  readonly key: string;
  readonly tree: TileTree;
  /** False once a leaf of it could not be derived. */
  isWhole: boolean;
}

/**
 * A node's batches beside its groups: envelopes contiguous, signed and linked, groups by the key of theirs, each root
 * and every tile recomputed from the leaves. Memory: the tree of one batch.
 */
export class BatchWalk {
  readonly #check: Check;
  readonly #node: NodeId;
  readonly #envelopes: RowCursor<SignedStatement>;
  readonly #firsts: RowCursor<number>;
  readonly #tiles: RowCursor<Uint8Array>;
  /** The last batch of which this node knew that it was decided. */
  readonly #decided: number;
  #current: CurrentBatch | undefined;
  /** What the next envelope must say. */
  #next: { batch: number; first: number; prev: Sha256Hash | null } = { batch: 1, first: 1, prev: null };

  private constructor(check: Check, node: NodeId, decided: number) {
    this.#check = check;
    this.#node = node;
    this.#decided = decided;
    this.#envelopes = new RowCursor(check, envelopeTable, node);
    this.#firsts = new RowCursor(check, batchFirstTable, node);
    this.#tiles = new RowCursor(check, tileTable, node);
  }

  static async open(check: Check, node: NodeId): Promise<BatchWalk> {
    // A row that does not read is told of where its table is checked.
    const vouched =
      node === check.own ? ownVouchedTable.get(check.store, node).catch(() => 0) : Number.POSITIVE_INFINITY;
    const walk = new BatchWalk(check, node, (await vouched) ?? 0);
    await walk.#advance();
    return walk;
  }

  /** Takes the next group: its leaves in order, or null where they could not be derived. */
  async add({ first, size, keyId }: Group, leaves: readonly Uint8Array[] | null): Promise<void> {
    while (this.#current !== undefined && first >= endOf(this.#current.envelope)) await this.#complete();
    if (this.#current === undefined) {
      this.#check.report.count('unsealed', size);
      return;
    }
    const { envelope, tree, key } = this.#current;
    if (keyId !== envelope.keyId && !this.#isSignedAnew(envelope)) {
      this.#check.report.problem(
        groupTable.name,
        groupTable.key(this.#node, first),
        'is by another key than its batch',
      );
    }
    const isNext = first === envelope.first + tree.size;
    if (first + size > endOf(envelope)) {
      this.#check.report.problem(envelopeTable.name, key, `the batch ends inside the group of record ${first}`);
    }
    if (leaves === null || !isNext || first + size > endOf(envelope)) this.#current.isWhole = false;
    else for (const leaf of leaves) tree.append(leaf);
    if (first + size >= endOf(envelope)) await this.#complete();
  }

  /** After the last group: envelopes must not reach further, and nothing may be left. */
  async finish(): Promise<void> {
    while (this.#current !== undefined) await this.#complete();
    await this.#firsts.finish();
    await this.#tiles.finish();
  }

  /** Whether a start goes on with signing the batch again: it is undecided, and by a key that was revoked. */
  #isSignedAnew({ node, batch, keyId }: Envelope): boolean {
    return batch > this.#decided && this.#check.keys?.directory.revocation(node, keyId) !== undefined;
  }

  async #complete(): Promise<void> {
    if (this.#current === undefined) return;
    const { envelope, key, tree, isWhole } = this.#current;
    const { report } = this.#check;
    const { node, batch, first } = envelope;
    const firstKey = batchFirstTable.key(node, first);
    const leadsTo = await this.#firsts.take(firstKey);
    if (leadsTo !== undefined && leadsTo !== batch) {
      report.problem(batchFirstTable.name, firstKey, `leads to batch ${leadsTo}, not ${batch}`);
    }
    if (!isWhole || tree.size !== envelope.size) {
      report.problem(envelopeTable.name, key, 'its root cannot be derived: not all of its records are here');
      await this.#tiles.skipUnder(tileTable.key(node, batch));
    } else {
      if (writeSha256(tree.root()) !== envelope.root) {
        report.problem(envelopeTable.name, key, 'its root is not that of its records');
      }
      await this.#checkTiles(batch, tree);
    }
    report.count('batches');
    await this.#advance();
  }

  async #checkTiles(batch: number, tree: TileTree): Promise<void> {
    const { report } = this.#check;
    for (const { level, index, hashes } of tree.tiles()) {
      const key = tileTable.key(this.#node, batch, level, index);
      const stored = await this.#tiles.take(key);
      if (stored === undefined) continue;
      report.count('tiles');
      if (!equalBytes(stored, hashes)) report.problem(tileTable.name, key, 'does not hold the hashes of its leaves');
    }
  }

  /** Opens the next envelope that reads. */
  async #advance(): Promise<void> {
    this.#current = undefined;
    for (let row = await this.#envelopes.next(); row !== undefined; row = await this.#envelopes.next()) {
      const envelope = row.value && this.#open(row.key, row.value);
      if (envelope === undefined || row.value === undefined) continue;
      this.#next = {
        batch: envelope.batch + 1,
        first: endOf(envelope),
        prev: hashText(nativeSuite, row.value.statement),
      };
      this.#current = { envelope, key: row.key, tree: new TileTree(nativeSuite), isWhole: true };
      return;
    }
  }

  #open(key: string, signed: SignedStatement): Envelope | undefined {
    const { report } = this.#check;
    const envelope = checkSigned(this.#check, envelopeTable, key, envelopeStatement, signed, (value) => value);
    if (envelope === undefined) return undefined;
    if (key !== envelopeTable.key(this.#node, envelope.batch) || envelope.node !== this.#node) {
      report.problem(envelopeTable.name, key, `holds batch ${envelope.node}/${envelope.batch}`);
      return undefined;
    }
    const { batch, first, prev } = this.#next;
    if (envelope.batch !== batch) report.problem(envelopeTable.name, key, `batch ${batch} should come here`);
    else if (envelope.first !== first) {
      report.problem(envelopeTable.name, key, `begins at another record than ${first}`);
    }
    if (envelope.prev !== prev) report.problem(envelopeTable.name, key, 'does not name the envelope before it');
    return envelope;
  }
}

/** The record after a batch. */
function endOf({ first, size }: Envelope): number {
  return first + size;
}
