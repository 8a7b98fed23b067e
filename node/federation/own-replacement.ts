import type { Logger } from 'pino';
import { stateAfter } from '../../protocol/chain/chain-state.ts';
import { hashText } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Chains } from '../log/chains.ts';
import { type Decided, isDecidable } from '../log/decidable.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import { envelopeTable, readBatch, type StoredBatch } from '../records/batch-tables.ts';
import { derivedOperations } from '../records/chain-tables.ts';
import { groupTable } from '../records/record-tables.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { type ChainBesides, ChainContradictionError, openGroup } from './chain-assembler.ts';
import { openEnvelope } from './equivocations.ts';
import { firstOutdone, isSameGroup, isSignedAnew, type Outdone } from './outdone.ts';
import { decodeItem, type PageItem } from './page-forms.ts';
import type { PageClient } from './page-client.ts';

export interface OwnReplacementOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly decided: Decided;
  readonly pages: Pick<PageClient, 'read'>;
  /** Rows that land beside an own batch that comes from a peer. */
  readonly besides: ChainBesides['batch'];
  /** While envelopes are replaced, nothing of own batches from that number on may be sent to the ledger. */
  readonly outbox: { withdraw(from: number): Promise<void>; resume(): void };
  /** These own batches, in order, are others than before, on the disk. Must not throw. */
  readonly onReplaced: (batches: readonly StoredBatch[]) => void;
  readonly log: Logger;
}

/**
 * Puts in the place of own batches that the log can decide no more those that this node signed again while its store
 * was away (protocol §2, §9): a copy that is restored after its key was revoked.
 *
 * No word of a peer counts. An envelope is taken that this node's own certified key signed, that the log decided or can
 * still decide, and of which only `keyId` and `prev` differ from the held one; receipts by that key, of the very same
 * records as those that are held. Records are read from nobody, and none is written.
 *
 * Crash order: receipts of long batches first, page by page; each is whole by itself. Then all envelopes with the last
 * receipts and what is derived from them in one atomic write, so that the chain is the old one or the new one. What
 * follows in the store is by a revoked key and undecided: the start goes on and signs it again.
 *
 * Ownership: called by the start alone, before anything is signed and while nothing of the own chain is pulled.
 */
export class OwnReplacement {
  readonly #options: OwnReplacementOptions;

  constructor(options: OwnReplacementOptions) {
    this.#options = options;
  }

  /** The first own batch in the store that can be decided no more; undefined where there is none. */
  outdone(): Promise<Outdone | undefined> {
    const { store, decided, self, chains } = this.#options;
    return firstOutdone(store, decided, self, chains.head(self).batch);
  }

  /**
   * Takes from a peer what it holds in the place of an outdone batch and of those behind it; resolves to the number of
   * envelopes that were replaced. Throws `PeerStatementError`, `ChainContradictionError` where this node itself signed
   * receipts of other records, and what store and transport throw.
   */
  async take(peer: NodeId, outdone: Outdone, signal: AbortSignal): Promise<number> {
    const { self, chains, store } = this.#options;
    const head = chains.head(self).batch;
    const reading = new Reading(this.#options, outdone, head);
    for (let isMore = true; isMore;) {
      const before = reading.wanted;
      await this.#readPage(peer, reading, signal);
      isMore = reading.isUnfinished && reading.wanted.seq > before.seq;
      if (reading.isInside) await store.write(reading.receipts());
    }
    const { whole } = reading;
    if (whole.length === 0 || !(await this.#mayFollow(whole.length + outdone.held.envelope.batch, head))) return 0;
    await this.#write(whole, reading.receipts(), head);
    return whole.length;
  }

  async #readPage(peer: NodeId, reading: Reading, signal: AbortSignal): Promise<void> {
    const { pages, self } = this.#options;
    const take = async (frames: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const frame of frames) if (!(await reading.take(decodeItem(frame)))) return;
    };
    await pages.read(peer, { want: 'chain', node: self, ...reading.wanted }, take, signal);
  }

  /**
   * Whether all own batches from a number on can follow other ones than before: they are signed again after the start.
   */
  async #mayFollow(from: number, head: number): Promise<boolean> {
    const { store, decided, self } = this.#options;
    for (let batch = from; batch <= head; batch++) {
      const held = await readBatch(store, self, batch);
      if (held === undefined || !decided.isRevoked(self, held.envelope.keyId)) return false;
    }
    return true;
  }

  async #write(whole: readonly StoredBatch[], receipts: readonly Operation[], head: number): Promise<void> {
    const { self, store, besides, outbox, onReplaced, log } = this.#options;
    const batches = whole.map(({ envelope }) => envelope.batch);
    const last = whole.at(-1);
    const isWhole = last?.envelope.batch === head;
    await outbox.withdraw(batches[0] ?? 0);
    try {
      await store.write([
        ...receipts,
        ...whole.map(({ envelope, signed }) => envelopeTable.put([self, envelope.batch], signed)),
        ...whole.flatMap((batch) => besides(batch)),
        ...(last !== undefined && isWhole
          ? derivedOperations(stateAfter(last.envelope, hashOf(last.signed), null), [])
          : []),
      ]);
    } finally {
      outbox.resume();
    }
    log.warn(
      { batches },
      'own batches by a revoked key were signed anew while this store was away: they are taken over',
    );
    onReplaced(whole);
  }
}

type Checks = Pick<OwnReplacementOptions, 'decided' | 'keys' | 'self' | 'store'>;

/** Reads pages of the own chain, and keeps of them what may take the place of what is held. */
class Reading {
  readonly whole: StoredBatch[] = [];
  readonly #checks: Checks;
  readonly #head: number;
  #prev: string | null;
  #batch: number;
  #seq: number;
  #open: StoredBatch | undefined;
  #receipts: Operation[] = [];
  #isOver = false;

  constructor(checks: Checks, { held: { envelope } }: Outdone, head: number) {
    this.#checks = checks;
    this.#head = head;
    this.#prev = envelope.prev;
    this.#batch = envelope.batch;
    this.#seq = envelope.first;
  }

  /** What to ask for next. */
  get wanted(): { readonly batch: number; readonly seq: number } {
    return { batch: this.#batch, seq: this.#seq };
  }

  /** Whether the last page ended inside a batch. */
  get isInside(): boolean {
    return !this.#isOver && this.#open !== undefined;
  }

  get isUnfinished(): boolean {
    return !this.#isOver && this.#batch <= this.#head;
  }

  /** Receipts that are to be written; they are forgotten here. */
  receipts(): readonly Operation[] {
    const receipts = this.#receipts;
    this.#receipts = [];
    return receipts;
  }

  /** Takes one item of a page; whether there is anything to read behind it. */
  async take(item: PageItem): Promise<boolean> {
    if (item.kind === 'envelope') await this.#takeEnvelope(item.signed);
    else if (item.kind === 'group') await this.#takeGroup(item.signed);
    else if (item.kind !== 'records') throw new PeerStatementError('malformed', `a ${item.kind} in a page of a chain`);
    return this.isUnfinished;
  }

  async #takeEnvelope(signed: SignedStatement): Promise<void> {
    const { keys, decided, self, store } = this.#checks;
    const envelope = openEnvelope(keys, signed);
    if (envelope.node !== self || envelope.batch !== this.#batch) {
      throw new PeerStatementError('malformed', `batch ${envelope.node}/${envelope.batch} was not asked for`);
    }
    // A page that goes on inside a batch begins with its envelope.
    if (signed.statement === this.#open?.signed.statement) return;
    const held = await readBatch(store, self, this.#batch);
    const isAnew = held !== undefined && isSignedAnew(held.envelope, envelope) && envelope.prev === this.#prev;
    const isTaken = isAnew && this.#open === undefined && (await isDecidable(decided, envelope, signed.statement));
    if (isTaken) this.#open = { envelope, signed };
    else this.#isOver = true;
  }

  async #takeGroup(signed: SignedStatement): Promise<void> {
    const { keys, self, store } = this.#checks;
    const open = this.#open;
    if (open === undefined) throw new PeerStatementError('malformed', 'a group before its envelope');
    const { envelope } = open;
    const group = openGroup(keys, signed, envelope);
    if (group.node !== self || group.first !== this.#seq) {
      throw new PeerStatementError('malformed', `group ${group.node}/${group.first} is out of order`);
    }
    const held = await groupTable.get(store, self, group.first);
    if (held === undefined) throw new RangeError(`the receipt of own records from ${group.first} on is missing`);
    const before = groupStatement.parse(held.statement);
    if (!isSameGroup(before, group)) {
      throw new ChainContradictionError(`group ${group.first} is of other records than the one held`, [signed]);
    }
    if (before.keyId !== group.keyId) this.#receipts.push(groupTable.put([self, group.first], signed));
    this.#seq += group.size;
    if (this.#seq === envelope.first + envelope.size) this.#close(open);
  }

  #close(batch: StoredBatch): void {
    this.whole.push(batch);
    this.#open = undefined;
    this.#prev = hashOf(batch.signed);
    this.#batch++;
  }
}

function hashOf({ statement }: SignedStatement) {
  return hashText(nativeSuite, statement);
}
