import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { MAX_BATCH_RECORDS } from '../../protocol/chain/envelope-rules.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import { type AttestationRecord, openRecord, type WholeTexts } from '../../protocol/chain/record.ts';
import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { OpenBatch, recoverOpenBatch } from '../intake/sealing/open-batch.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Chains } from '../log/chains.ts';
import { type Decided, requireDecidable } from '../log/decidable.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import { openStatement } from '../log/members/statement-check.ts';
import {
  batchFirstTable,
  batchOperations,
  envelopeTable,
  readHead,
  type StoredBatch,
  tileTable,
} from '../records/batch-tables.ts';
import { splitTexts } from '../records/record-lines.ts';
import { bodyTable, groupTable, projectedRows, recordIndex } from '../records/record-tables.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads, Store } from '../store/store.ts';
import { openEnvelope } from './equivocations.ts';
import { isSameGroup } from './outdone.ts';
import { ArrivingGroup, type CheckedGroup } from './page-check.ts';
import type { PageItem, RecordsItem } from './page-forms.ts';

/** Records of whole groups that are written at once: a busy chain's groups are small, and each write is synced. */
const WRITE_RECORDS = 1_024;

/** The node signed groups and an envelope that do not fit together: its own contradiction, not the sender's. */
export class ChainContradictionError extends Error {
  override readonly name = 'ChainContradictionError';
  readonly signed: readonly SignedStatement[];

  constructor(message: string, signed: readonly SignedStatement[]) {
    super(message);
    this.signed = signed;
  }
}

/** A record with the hash of its leaf. */
export interface HashedRecord {
  readonly record: AttestationRecord;
  readonly leaf: Uint8Array;
}

/** Rows that land in the chain's own writes, beside its own: what a node derives from its own records and batches. */
export interface ChainBesides {
  readonly group: (records: readonly HashedRecord[]) => Promise<readonly Operation[]>;
  readonly batch: (batch: StoredBatch) => readonly Operation[];
  /** Told once rows of groups are on the disk. Must not throw. */
  readonly onWritten: () => void;
}

/** Who goes by what other nodes record of accounts: the kinds of `AccountRecordKind`, and no others. */
export interface RecordsOfOthers {
  /** Rows that land in the records' own write. */
  readonly rowsOf: (records: readonly AttestationRecord[]) => readonly Operation[];
  /** Told once they are on the disk. Must not throw. */
  readonly onWritten: (records: readonly AttestationRecord[]) => void;
}

export interface AssemblerOptions {
  readonly node: NodeId;
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly decided: Decided;
  /** Of this node's own chain alone. */
  readonly besides?: ChainBesides | undefined;
  /** Of other nodes' chains. */
  readonly others?: RecordsOfOthers | undefined;
}

/** A group that was checked with all its records. */
interface WholeGroup {
  readonly group: Group;
  readonly signed: SignedStatement;
  readonly checked: CheckedGroup;
  /** Its records as they were read; none where another thread read them. */
  readonly records: readonly HashedRecord[];
}

/** The groups that are held of the next batch, as far as they are by one key; none before the first. */
interface OpenGroups {
  open: OpenBatch;
  keyId: Sha256Hash | null;
}

/**
 * Rebuilds one node's chain from pages, trusting nobody: every leaf is re-derived from its record's texts, every group
 * signature and root is checked before the group is stored, every batch root and link before the batch is. Where the
 * log has decided a number, only the envelope that it decided is taken; where not, any that it can decide yet; and none
 * of more records than a batch may have. Every group is by the key of its envelope. Where those that were held before
 * are not, or are of other records, as where its node was restored, or end within a group that a peer holds, it is asked
 * for from its first record, once of each peer: what one served, its origin's group or not, keeps no other's out.
 *
 * Crash order: whole groups first, each signed by its origin and useful by itself, several to a write; the envelope
 * with its tiles not before the last of them. A crash between leaves groups without their batch, from which `recover`
 * goes on.
 *
 * Of the own chain, records that are held stay as they are: a receipt by another key than the batch's gives way to the
 * one of the same records by that, and nothing else does.
 */
export class ChainAssembler {
  readonly #options: AssemblerOptions;
  readonly #node: NodeId;
  readonly #store: Store;
  readonly #keys: FederationKeys;
  readonly #chains: Chains;
  readonly #decided: Decided;
  readonly #besides: ChainBesides | undefined;
  #held: OpenGroups;
  #envelope: StoredBatch | undefined;
  /** What else is in the page is not what is wanted any more. */
  #isOver = false;
  /** The last batch that was begun again by a page of the peer whose pages come. */
  #begunAnew = 0;
  #peer: NodeId | null = null;
  /** Whether groups of the batch were held before the page. */
  #goesOn = false;
  #partial: ArrivingGroup | undefined;
  /** Whole, checked groups that are not on the disk yet, in order. */
  #unwritten: WholeGroup[] = [];
  readonly #unwrittenIds = new Set<RecordId>();
  /** Receipts that take the place of held ones of the same records. */
  #resigned: Operation[] = [];

  private constructor(options: AssemblerOptions, held: OpenGroups) {
    const { node, store, keys, chains, decided, besides } = options;
    this.#options = options;
    this.#node = node;
    this.#store = store;
    this.#keys = keys;
    this.#chains = chains;
    this.#decided = decided;
    this.#besides = besides;
    this.#held = held;
  }

  /** Goes on from the whole groups in the store. */
  static async recover(options: AssemblerOptions): Promise<ChainAssembler> {
    return new ChainAssembler(options, await heldGroups(options, options.chains.head(options.node).next));
  }

  /** What to ask for next. */
  get wanted(): { readonly batch: number; readonly seq: number } {
    return { batch: this.#chains.head(this.#node).batch + 1, seq: this.#held.open.next };
  }

  /** Puts on the disk what the page brought. Call after each page, however it ended. Throws where the store does. */
  async endPage(): Promise<void> {
    if (this.#unwritten.length === 0 && this.#resigned.length === 0) return;
    await this.#write([]);
  }

  /** Forgets what an earlier page left unfinished. Call before each page, with the peer that it comes from. */
  beginPage(peer: NodeId): void {
    if (peer !== this.#peer) this.#begunAnew = 0;
    this.#peer = peer;
    this.#envelope = undefined;
    this.#partial = undefined;
    this.#isOver = false;
    this.#goesOn = this.#held.open.tree.size > 0;
  }

  /**
   * Takes one item of a page. Resolves to a batch when the item completed one, now on the disk with all its groups.
   * Throws `PeerStatementError` (the sender's fault) or `ChainContradictionError` (the origin's).
   */
  async take(item: PageItem): Promise<StoredBatch | undefined> {
    if (this.#isOver) return undefined;
    switch (item.kind) {
      case 'envelope':
        return this.#takeEnvelope(item.signed);
      case 'group': {
        const group = await this.#openGroup(item.signed);
        if (group !== undefined) this.#partial = new ArrivingGroup(group, item.signed);
        return undefined;
      }
      case 'records':
        return this.#takeRecords(item);
      default:
        throw new PeerStatementError('malformed', `a ${item.kind} in a page of a chain`);
    }
  }

  /**
   * Takes a group whose records were read and hashed elsewhere. Not of the own chain. Resolves and throws as `take`
   * does of the last of its records.
   */
  async takeChecked(signed: SignedStatement, checked: CheckedGroup): Promise<StoredBatch | undefined> {
    if (this.#isOver) return undefined;
    const group = await this.#openGroup(signed);
    return group && this.#finishGroup({ group, signed, checked, records: [] });
  }

  async #takeEnvelope(signed: SignedStatement): Promise<StoredBatch | undefined> {
    if (this.#partial !== undefined) throw new PeerStatementError('malformed', 'an envelope inside a group');
    const envelope = openEnvelope(this.#keys, signed);
    const head = this.#chains.head(this.#node);
    if (envelope.node !== this.#node || envelope.batch !== head.batch + 1) {
      throw new PeerStatementError('malformed', `batch ${envelope.node}/${envelope.batch} was not asked for`);
    }
    await requireDecidable(this.#decided, envelope, signed.statement);
    if (envelope.prev !== head.hash || envelope.first !== head.next) {
      throw new ChainContradictionError(`batch ${envelope.batch} of ${this.#node} does not follow the one held`, [
        signed,
      ]);
    }
    // No member derives it, so it never ends, and whatever came of it would be kept for nothing.
    if (envelope.size > MAX_BATCH_RECORDS) {
      throw new ChainContradictionError(`batch ${envelope.batch} of ${this.#node} is too large to be derived`, [
        signed,
      ]);
    }
    const { keyId } = this.#held;
    if (keyId !== null && keyId !== envelope.keyId) {
      await this.#beginAnew(envelope);
      return undefined;
    }
    this.#envelope = { envelope, signed };
    return this.#complete();
  }

  /** Groups of another node that are held under another key are dropped; own ones stay, and what comes is compared. */
  async #beginAnew({ batch, first }: Envelope): Promise<void> {
    if (this.#begunAnew === batch) {
      throw new PeerStatementError('undecidable', `batch ${batch} comes under several keys`);
    }
    this.#begunAnew = batch;
    this.#isOver = true;
    await this.endPage();
    if (this.#besides === undefined) await this.#store.write(await dropRecords(this.#store, this.#node, first));
    this.#held = { open: new OpenBatch(first), keyId: null };
  }

  /** Whether the batch was begun again: not of the own chain, only where groups were held before, and once. */
  async #mayBeginAnew(envelope: Envelope): Promise<boolean> {
    if (!this.#goesOn || this.#besides !== undefined || this.#begunAnew === envelope.batch) return false;
    await this.#beginAnew(envelope);
    return true;
  }

  /** The statement of the group that comes next; undefined where the batch was begun again. */
  async #openGroup(signed: SignedStatement): Promise<Group | undefined> {
    const envelope = this.#requireEnvelope();
    if (this.#partial !== undefined) throw new PeerStatementError('malformed', 'a group inside a group');
    const group = openGroup(this.#keys, signed, envelope);
    const { seq } = this.wanted;
    if (group.node !== this.#node || group.first !== seq) {
      const isOtherwiseCut = group.node === this.#node && group.first + group.size > seq;
      if (isOtherwiseCut && (await this.#mayBeginAnew(envelope))) return undefined;
      throw new PeerStatementError('malformed', `group ${group.node}/${group.first} is out of order`);
    }
    if (group.first + group.size > envelope.first + envelope.size) {
      const held = this.#envelope?.signed;
      throw new ChainContradictionError(
        'a group reaches past its batch',
        held === undefined ? [signed] : [held, signed],
      );
    }
    return group;
  }

  async #takeRecords(item: RecordsItem): Promise<StoredBatch | undefined> {
    const partial = this.#partial;
    if (partial === undefined) throw new PeerStatementError('malformed', 'records outside a group');
    partial.take(item);
    await yieldToEventLoop();
    if (!partial.isWhole) return undefined;
    this.#partial = undefined;
    const { group, signed, records } = partial;
    return this.#finishGroup({ group, signed, records, checked: partial.check() });
  }

  async #finishGroup(whole: WholeGroup): Promise<StoredBatch | undefined> {
    const { group, checked } = whole;
    const held = this.#besides === undefined ? undefined : await groupTable.get(this.#store, this.#node, group.first);
    if (held === undefined) {
      await this.#requireFreshIds(whole);
      this.#unwritten.push(whole);
      for (const id of checked.ids) this.#unwrittenIds.add(id);
    } else {
      this.#takeReceipt(whole, held);
    }
    this.#held.open.addFound(checked.leaves, group);
    this.#held.keyId = group.keyId;
    const batch = await this.#complete();
    if (this.#unwrittenIds.size >= WRITE_RECORDS) await this.endPage();
    return batch;
  }

  /** Of own records that are held. They are never written over: it is the receipt alone that may be another. */
  #takeReceipt({ group, signed }: WholeGroup, held: SignedStatement): void {
    const before = groupStatement.parse(held.statement);
    if (!isSameGroup(before, group)) {
      throw new ChainContradictionError(`group ${group.first} is of other records than the one held`, [signed]);
    }
    if (before.keyId !== group.keyId) this.#resigned.push(groupTable.put([this.#node, group.first], signed));
  }

  /** An id names one record for ever: a later one under the same id would stand in its place at every verification. */
  async #requireFreshIds({ group, signed, checked: { ids } }: WholeGroup): Promise<void> {
    const rows = await this.#store.getMany(ids.map((id) => recordIndex.key(id)));
    const inGroup = new Set<RecordId>();
    ids.forEach((id, i) => {
      const row = rows[i];
      const isStored = row !== undefined && recordIndex.decode(row) !== group.first + i;
      if (isStored || this.#unwrittenIds.has(id) || inGroup.has(id)) {
        throw new ChainContradictionError(`record id ${id} is given twice`, [signed]);
      }
      inGroup.add(id);
    });
  }

  /** Stores the batch once all its records are here. */
  async #complete(): Promise<StoredBatch | undefined> {
    const batch = this.#envelope;
    if (batch === undefined || this.#held.open.tree.size < batch.envelope.size) return undefined;
    const tree = await this.#treeOf(batch.envelope);
    if (tree === null) {
      if (await this.#mayBeginAnew(batch.envelope)) return undefined;
      throw new ChainContradictionError(`the root of batch ${batch.envelope.batch} is not that of its records`, [
        batch.signed,
      ]);
    }
    await this.#write([...batchOperations(batch, tree.tiles()), ...(this.#besides?.batch(batch) ?? [])]);
    this.#chains.advance(batch);
    const next = batch.envelope.first + batch.envelope.size;
    this.#goesOn = this.#held.open.next > next;
    this.#held = this.#goesOn ? await heldGroups(this.#options, next) : { open: new OpenBatch(next), keyId: null };
    this.#envelope = undefined;
    return batch;
  }

  /** The tree of the batch, which groups of later ones may follow; null where it is not the envelope's. */
  async #treeOf({ first, size, root }: Envelope): Promise<OpenBatch['tree'] | null> {
    let { tree } = this.#held.open;
    if (tree.size > size) {
      if ((await groupTable.get(this.#store, this.#node, first + size)) === undefined) return null;
      ({ tree } = await recoverOpenBatch(this.#store, this.#node, first, size));
    }
    return tree.size === size && writeSha256(tree.root()) === root ? tree : null;
  }

  /** Writes the groups that wait, and more rows with them. */
  async #write(more: readonly Operation[]): Promise<void> {
    const records = this.#unwritten.flatMap((group) => group.records);
    const besides = records.length === 0 ? [] : ((await this.#besides?.group(records)) ?? []);
    const others = this.#besides === undefined ? this.#options.others : undefined;
    const told = this.#unwritten.flatMap(({ checked }) => checked.accountRecords);
    const rows = [...besides, ...(others?.rowsOf(told) ?? [])];
    await this.#store.write([
      ...this.#unwritten.flatMap(({ checked }) => checked.rows()),
      ...this.#resigned,
      ...rows,
      ...more,
    ]);
    if (records.length > 0) this.#besides?.onWritten();
    others?.onWritten(told);
    this.#unwritten = [];
    this.#resigned = [];
    this.#unwrittenIds.clear();
  }

  #requireEnvelope(): Envelope {
    if (this.#envelope === undefined) throw new PeerStatementError('malformed', 'a group before its envelope');
    return this.#envelope.envelope;
  }
}

/**
 * The groups from a record on that are by the key of the first of them: a copy may hold others behind, to be signed
 * again.
 */
async function heldGroups({ node, store }: AssemblerOptions, from: number): Promise<OpenGroups> {
  let keyId: Sha256Hash | null = null;
  let size = 0;
  for await (const [, { statement }] of groupTable.under(store, [node], { from })) {
    const group = groupStatement.parse(statement);
    keyId ??= group.keyId;
    if (group.keyId !== keyId) break;
    size = group.first + group.size - from;
  }
  return { open: await recoverOpenBatch(store, node, from, size), keyId };
}

/**
 * Reads a group that a peer serves under an envelope: it is by the envelope's own key, so that no receipt falls or
 * stands apart from its batch. Throws `PeerStatementError`.
 */
export function openGroup(
  keys: Pick<FederationKeys, 'rosters' | 'directory'>,
  signed: SignedStatement,
  envelope: Pick<Envelope, 'keyId'>,
): Group {
  const group = openStatement(keys, groupStatement, signed, ({ node, keyId, first }) => ({ node, keyId, first }));
  if (group.keyId !== envelope.keyId) {
    throw new PeerStatementError('malformed', `group ${group.node}/${group.first} is by another key than its batch`);
  }
  return group;
}

/**
 * Drops the held batches of another node after number `to`, with all that is held of its records behind them. Only
 * batches that were not derived here may be dropped.
 *
 * Crash order: the last batch first, each in one atomic write with whatever follows it, so that what is left is the
 * node's chain up to some batch at every moment.
 */
export async function rewindChain(store: Store, chains: Chains, node: NodeId, to: number): Promise<void> {
  for (let head = await readHead(store, node); head !== undefined && head.envelope.batch > to;) {
    await store.write([...(await dropRecords(store, node, head.envelope.first)), ...(await batchRows(store, head))]);
    head = await readHead(store, node);
    chains.rewind(node, head);
  }
}

async function batchRows(store: Store, { envelope: { node, batch, first } }: StoredBatch): Promise<Operation[]> {
  const operations = [envelopeTable.del(node, batch), batchFirstTable.del(node, first)];
  for await (const [[level, index]] of tileTable.under(store, [node, batch])) {
    operations.push(tileTable.del(node, batch, Number(level), Number(index)));
  }
  return operations;
}

/** What drops groups and records of another node from `first` on, sealed or not. */
export async function dropRecords(store: Reads, node: NodeId, first: number): Promise<Operation[]> {
  const operations: Operation[] = [];
  for await (const [[seq]] of groupTable.under(store, [node], { from: first })) {
    operations.push(groupTable.del(node, Number(seq)));
  }
  for await (const [[seq], body] of bodyTable.under(store, [node], { from: first })) {
    operations.push(bodyTable.del(node, Number(seq)), ...splitTexts(body).flatMap(indexRows));
  }
  return operations;
}

function indexRows(texts: WholeTexts): Operation[] {
  const record = openRecord(nativeSuite, texts);
  const projected = projectedRows(record).map(({ key }): Operation => ({ type: 'del', key }));
  return [recordIndex.del(record.id), ...projected];
}
