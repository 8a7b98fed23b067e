import type { Logger } from 'pino';
import { FROM_TOLERANCE_MS } from '../../../protocol/chain/chain-state.ts';
import { MAX_BATCH_RECORDS } from '../../../protocol/chain/envelope-rules.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { ChainRefusal } from '../../../protocol/chain/refusal.ts';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { haltingSigner } from '../../keys/halting-signer.ts';
import type { Operation } from '../../store/operation.ts';
import { batchOperations, readBatch, readHead, type StoredBatch } from '../../records/batch-tables.ts';
import { type CommittedGroup, OpenBatch, recoverOpenBatches } from './open-batch.ts';
import { type OwnDecision, type SealableBatch, SealedChain, type SealedChainOptions } from '../../log/sealed-chain.ts';
import { SealingPace } from './sealing-pace.ts';
import { signAnew, type SignAnewOptions } from './sign-anew.ts';

/** Pause after a seal that the store refused. In milliseconds. */
const RETRY_MS = 500;
/** How often a batch that an older key's envelope holds back is looked at again, in milliseconds. */
const HELD_BACK_MS = 30_000;
/**
 * Cut batches that hold what they were made of: the one whose turn it is, and the next. How many wait behind them is
 * up to the ledger, which may be away for a day.
 */
const MAX_MADE_BATCHES = 2;
const LOCK_KEY = 'chain';

/** What signing again needs beside the chain. */
export interface Resigning extends Pick<SignAnewOptions, 'withdraw'> {
  /**
   * What the log says at this moment. Both are of one state: a name by a key that was revoked decides nothing any more,
   * so that what is undecided there stays undecided until it is signed again.
   */
  readonly standing: () => Pick<SignAnewOptions, 'decided' | 'isRevoked'>;
  /** Told of batches that were signed again, at least one, once they are on the disk, in order. */
  readonly onSigned: (batches: readonly StoredBatch[]) => void;
  /** What was withdrawn may be sent again. */
  readonly resume: () => void;
}

export interface SealerOptions extends SealedChainOptions {
  /** The key that signs at the moment. */
  readonly signer: () => Signer;
  readonly now: () => number;
  /** Longest time that a record waits for its batch, in milliseconds. */
  readonly intervalMs: number;
  readonly maxRecords?: number;
  /** The last own batch that was decided, at the start. Absent: no batch waits for those before to be named. */
  readonly named?: number;
  /** Rows that land in the sealing write beside the batch's own: the anchor's outbox entry. */
  readonly besides: (batch: StoredBatch) => readonly Operation[];
  /** Absent: nothing is signed again. */
  readonly resigning?: Resigning;
  /** Told of every batch once it is on the disk. */
  readonly onSealed: (batch: StoredBatch) => void;
  /** The own records make no batch that a member would derive: nothing is sealed any more. Called once. */
  readonly onRefused: (refusal: ChainRefusal) => void;
  readonly log: Logger;
}

class SealerHaltedError extends Error {
  override readonly name = 'SealerHaltedError';
}

/**
 * Cuts the node's records into batches. Each envelope names the one before, so the batches form one chain; each is
 * walked by the rules of derivation before it is signed, and every group of it bears the envelope's key: one that was
 * signed by another, before the key was replaced, is signed again.
 *
 * Crash order: the envelope is signed, then envelope, tiles, groups that were signed again, chain state and outbox
 * entry land in one atomic write, then the batch is announced. A crash before the write forgets the signatures, which
 * nobody saw; the open batch is rebuilt at start. Once halted no signature and no write begins, of a batch under way
 * neither.
 *
 * A new key seals nothing while an envelope by an older one is undecided and not signed again, so that no number is
 * ever signed twice by one key.
 *
 * Ownership: `#open` is appended to by `add` and swapped by `#cut`; `#chain` is moved under the lock alone, by the
 * sealing loop and by `signAnew`.
 */
export class Sealer implements AsyncDisposable {
  readonly #options: SealerOptions;
  readonly #pace: SealingPace;
  readonly #locks = new KeyedLock<typeof LOCK_KEY>();
  readonly #ending = new AbortController();
  readonly #wake = new AutoResetEvent();
  /** The last own batch that was decided. */
  #decided: number;
  #chain: SealedChain;
  #open: OpenBatch;
  /** Whole batches that the start found unsealed, in order. */
  #found: readonly OpenBatch[];
  #timer: NodeJS.Timeout | undefined;
  #sealing: Promise<void> = Promise.resolve();
  /** Cut batches whose turn is not over. */
  #queued = 0;
  #resigning: Promise<void> = Promise.resolve();
  #started = false;
  #closed = false;
  #halted = false;
  #refusal: ChainRefusal | null = null;

  private constructor(options: SealerOptions, found: Found) {
    this.#options = options;
    this.#decided = options.named ?? Number.POSITIVE_INFINITY;
    this.#pace = new SealingPace(this.#decided);
    this.#chain = found.chain;
    this.#open = found.open;
    this.#found = found.whole;
  }

  /** Continues the chain in the store and recovers the records that were not yet sealed. */
  static async open(options: SealerOptions): Promise<Sealer> {
    return new Sealer(options, await readChain(options));
  }

  /** Reads again where the store's chain and groups end: some were taken back from peers. Only before `start`. */
  async reload(): Promise<void> {
    const { chain, open, whole } = await readChain(this.#options);
    this.#chain = chain;
    this.#open = open;
    this.#found = whole;
    // The log may have named this node meanwhile.
    await this.begin();
  }

  /** Records that wait to be sealed. */
  get waiting(): number {
    return this.#open.next - this.unsealedFrom;
  }

  /** First record that is in no batch on the disk. */
  get unsealedFrom(): number {
    return this.#chain.state?.next ?? 1;
  }

  /** First record that is in no decided batch: what a certificate made now has to cover, should it be signed again. */
  async undecidedFrom(): Promise<number> {
    if (this.#decided === Number.POSITIVE_INFINITY) return this.unsealedFrom;
    const last = await readBatch(this.#options.store, this.#options.node, this.#decided);
    return last === undefined ? 1 : last.envelope.first + last.envelope.size;
  }

  /** The least `from` of the next envelope, in epoch milliseconds; null while the log does not name this node. */
  get leastFrom(): number | null {
    return this.#chain.leastFrom;
  }

  /** Why nothing is sealed any more; null while all is well. */
  get refusal(): ChainRefusal | null {
    return this.#refusal;
  }

  start(): void {
    this.#started = true;
    if (this.#chain.refusal !== null) return this.#refuse(this.#chain.refusal);
    for (const batch of this.#found) this.#enqueue(batch);
    this.#found = [];
    if (this.#open.tree.size > 0) this.#arm();
  }

  /** Takes a group that was made in this process and is on the disk. A batch splits no group. */
  add(group: CommittedGroup): void {
    const limit = this.#options.maxRecords ?? MAX_BATCH_RECORDS;
    if (this.#open.tree.size > 0 && this.#open.tree.size + group.records.length > limit) this.#cut();
    this.#open.add(group);
    if (this.#open.tree.size >= limit) this.#cut();
    else this.#arm();
  }

  /** Seals what waits, as soon as the pace lets it. Resolves once it is on the disk. */
  seal(): Promise<void> {
    this.#cut();
    return this.#sealing;
  }

  /** The log has decided an own batch. */
  noteDecided(batch: number, decision: OwnDecision): void {
    this.#chain.noteDecided(batch, decision);
    this.#pace.noteNamed(batch);
    this.#decided = Math.max(this.#decided, batch);
    this.#wake.notify();
  }

  /**
   * A revocation of an own key is in force, or a key has taken the place of a revoked one: what is undecided by a
   * revoked key is signed again by the key that signs now. Resolves once that is on the disk; tries until the store and
   * the key let it. Before `start` nothing is signed: who starts it calls this again.
   */
  signAnew(): Promise<void> {
    if (!this.#started) return Promise.resolve();
    this.#resigning = this.#resigning.then(() => this.#signAnew());
    return this.#resigning;
  }

  /** An own batch is named on the ledger. */
  noteNamed(batch: number): void {
    this.#pace.noteNamed(batch);
  }

  /** A roster came into force: where it is the first that names this node, its chain begins. */
  async begin(): Promise<void> {
    if (this.#chain.state === null) await this.#chain.begin();
  }

  /** Seals nothing any more, nor what is under way. What is unsealed stays in the store. */
  halt(): void {
    this.#halted = true;
    this.#close();
  }

  /** Waits for a seal under way. What is unsealed stays in the store and is recovered at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.#sealing;
    await this.#resigning;
  }

  #close(): void {
    this.#closed = true;
    this.#ending.abort();
    clearTimeout(this.#timer);
    this.#pace.close();
  }

  #arm(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#cutAtPace();
    }, this.#options.intervalMs);
  }

  /** Where the pace lets no batch through, the open one goes on growing. */
  #cutAtPace(): void {
    const held = this.#isHeldBack(this.#options.signer().keyId) ? this.#options.intervalMs : 0;
    const wait = Math.max(held, this.#pace.waitMs(this.#chain.state?.batch ?? 0));
    if (wait === 0) return this.#cut();
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#cutAtPace();
      },
      Math.min(wait, this.#options.intervalMs),
    );
  }

  #cut(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#open.tree.size === 0 || this.#halted) return;
    const batch = this.#open;
    this.#open = new OpenBatch(batch.next);
    this.#enqueue(batch);
  }

  #enqueue(batch: OpenBatch): void {
    if (++this.#queued > MAX_MADE_BATCHES) batch.forgetMade();
    this.#sealing = this.#sealing.then(() => this.#persist(batch)).finally(() => void this.#queued--);
  }

  /**
   * Tries until the store takes it. A batch after one that was given up at shutdown would not chain, so it waits too.
   */
  async #persist(open: OpenBatch): Promise<void> {
    while (!this.#halted && open.first === this.unsealedFrom) {
      try {
        const { state } = this.#chain;
        if (state === null || !(await this.#pace.turn(state.batch))) return;
        if (await this.#locks.exclusive(LOCK_KEY, () => this.#sealNow(open))) return;
        if (this.#closed) return;
        await this.#wake.wait(HELD_BACK_MS, this.#ending.signal);
      } catch (error) {
        if (error instanceof ChainRefusal) return this.#refuse(error);
        if (this.#closed) return;
        this.#options.log.error({ err: error, first: open.first }, 'a batch could not be sealed; trying again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** Whether the batch is on the disk; it is not where an older key holds it back. */
  async #sealNow(open: OpenBatch): Promise<boolean> {
    const { state } = this.#chain;
    const key = this.#signer();
    if (state === null || this.#isHeldBack(key.keyId)) return false;
    const draft = this.#draft(open, state, key);
    await this.#write(draft, await this.#chain.walk(draft, key, open.made), key);
    return true;
  }

  /** The key that signs at the moment, as long as the node may sign. */
  #signer(): Signer {
    return haltingSigner(this.#options.signer(), () => this.#requireRunning());
  }

  #requireRunning(): void {
    if (this.#halted) throw new SealerHaltedError('the node signs nothing more');
  }

  /** Whether the last envelope is by another key and undecided: were that key revoked, it would be signed again. */
  #isHeldBack(keyId: Sha256Hash): boolean {
    const { state, keyId: last } = this.#chain;
    return state !== null && state.batch > this.#decided && last !== keyId;
  }

  async #signAnew(): Promise<void> {
    const { resigning, log } = this.#options;
    if (resigning === undefined || this.#decided === Number.POSITIVE_INFINITY) return;
    while (!this.#closed) {
      try {
        await this.#locks.exclusive(LOCK_KEY, () => this.#resign(resigning));
        return;
      } catch (error) {
        if (this.#halted) return;
        log.error({ err: error }, 'what a revoked key signed could not be signed anew; trying again');
        await new AutoResetEvent().wait(RETRY_MS, this.#ending.signal);
      } finally {
        resigning.resume();
      }
    }
  }

  async #resign(resigning: Resigning): Promise<void> {
    const { store, node, besides } = this.#options;
    const batches = await signAnew({
      store,
      node,
      ...resigning.standing(),
      signer: this.#signer(),
      requireRunning: () => this.#requireRunning(),
      withdraw: resigning.withdraw,
      besides: (signed) => [
        ...signed.flatMap((batch) => besides(batch)),
        ...signed.slice(-1).flatMap((batch) => this.#chain.resigned(batch)),
      ],
    });
    const last = batches.at(-1);
    if (last === undefined) return;
    this.#chain.advance(last);
    resigning.onSigned(batches);
    this.#wake.notify();
  }

  /**
   * `sealedAt` is the clock, but not before the last record, and never so long after it that a record which comes next
   * would lie before the least `from` of its batch: a clock that was set forward ends no chain.
   */
  #draft(
    { first, tree, times }: OpenBatch,
    { batch, prev }: { batch: number; prev: Envelope['prev'] },
    { keyId }: Signer,
  ): Envelope {
    const { node, now } = this.#options;
    const sealedAt = Math.max(times.to, Math.min(now(), times.to + FROM_TOLERANCE_MS));
    return {
      v: 2,
      type: 'batch',
      node,
      batch: batch + 1,
      first,
      size: tree.size,
      root: writeSha256(tree.root()),
      prev,
      from: timestampOf(times.from),
      sealedAt: timestampOf(sealedAt),
      keyId,
    };
  }

  /** By the key that was picked for the draft, replaced meanwhile or not; one that was revoked meanwhile refuses. */
  async #write(envelope: Envelope, sealable: SealableBatch, key: Signer): Promise<void> {
    const { store, besides, onSealed } = this.#options;
    const batch = { envelope, signed: await signStatement(envelopeStatement, envelope, key) };
    this.#requireRunning();
    await store.write([
      ...batchOperations(batch, sealable.walked.tree.tiles()),
      ...this.#chain.operations(batch, sealable),
      ...besides(batch),
    ]);
    this.#chain.advance(batch);
    this.#pace.noteSealed();
    onSealed(batch);
  }

  #refuse(refusal: ChainRefusal): void {
    this.#refusal = refusal;
    this.halt();
    this.#options.onRefused(refusal);
  }
}

interface Found {
  readonly chain: SealedChain;
  readonly open: OpenBatch;
  readonly whole: readonly OpenBatch[];
}

async function readChain(options: SealerOptions): Promise<Found> {
  const { store, node, maxRecords = MAX_BATCH_RECORDS } = options;
  const chain = await SealedChain.open(options);
  const head = await readHead(store, node);
  const first = head === undefined ? 1 : head.envelope.first + head.envelope.size;
  const batches = await recoverOpenBatches(store, node, first, maxRecords);
  const open = batches.at(-1) ?? new OpenBatch(first);
  return { chain, open, whole: batches.slice(0, -1) };
}
