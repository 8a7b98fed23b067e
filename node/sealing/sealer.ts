import type { Logger } from 'pino';
import type { WalkedBatch } from '../../protocol/chain/batch-walk.ts';
import { FROM_TOLERANCE_MS } from '../../protocol/chain/chain-state.ts';
import { MAX_BATCH_RECORDS } from '../../protocol/chain/envelope-rules.ts';
import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { ChainRefusal } from '../../protocol/chain/refusal.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import { signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Operation } from '../store/operation.ts';
import { batchOperations, readHead, type StoredBatch } from './batch-tables.ts';
import { OpenBatch, recoverOpenBatches } from './open-batch.ts';
import { type OwnDecision, SealedChain, type SealedChainOptions } from './sealed-chain.ts';
import { SealingPace } from './sealing-pace.ts';

/** Pause after a seal that the store refused. In milliseconds. */
const RETRY_MS = 500;

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
  /** Told of every batch once it is on the disk. */
  readonly onSealed: (batch: StoredBatch) => void;
  /** The own records make no batch that a member would derive: nothing is sealed any more. Called once. */
  readonly onRefused: (refusal: ChainRefusal) => void;
  readonly log: Logger;
}

/**
 * Cuts the node's records into batches. Each envelope names the one before, so the batches form one chain; each is walked
 * by the rules of derivation before it is signed.
 *
 * Crash order: the envelope is signed, then envelope, tiles, chain state and outbox entry land in one atomic write, then
 * the batch is announced. A crash before the write forgets the signature, which nobody saw; the open batch is rebuilt at
 * start.
 *
 * Ownership: `#open` is appended to by `add` and swapped by `#cut`; the sealing loop alone moves `#chain`.
 */
export class Sealer implements AsyncDisposable {
  readonly #options: SealerOptions;
  readonly #pace: SealingPace;
  #chain: SealedChain;
  #open: OpenBatch;
  /** Whole batches that the start found unsealed, in order. */
  #found: readonly OpenBatch[];
  #timer: NodeJS.Timeout | undefined;
  #sealing: Promise<void> = Promise.resolve();
  #closed = false;
  #halted = false;
  #refusal: ChainRefusal | null = null;

  private constructor(options: SealerOptions, found: Found) {
    this.#options = options;
    this.#pace = new SealingPace(options.named ?? Number.POSITIVE_INFINITY);
    this.#chain = found.chain;
    this.#open = found.open;
    this.#found = found.whole;
  }

  /** Continues the chain in the store and recovers the records that were not yet sealed. */
  static async open(options: SealerOptions): Promise<Sealer> {
    return new Sealer(options, await readChain(options));
  }

  /** Reads again where the store's chain ends: batches were taken back from peers. Only before `start`. */
  async reload(): Promise<void> {
    const { chain, open, whole } = await readChain(this.#options);
    this.#chain = chain;
    this.#open = open;
    this.#found = whole;
  }

  /** Records that wait to be sealed. */
  get waiting(): number {
    return this.#open.next - this.unsealedFrom;
  }

  /** First record that is in no batch on the disk. */
  get unsealedFrom(): number {
    return this.#chain.state?.next ?? 1;
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
    if (this.#chain.refusal !== null) return this.#refuse(this.#chain.refusal);
    for (const batch of this.#found) this.#enqueue(batch);
    this.#found = [];
    if (this.#open.tree.size > 0) this.#arm();
  }

  /** Takes the leaves of a group that is on the disk, submitted at `at` epoch milliseconds. A batch splits no group. */
  add(leaves: readonly Uint8Array[], at: number): void {
    const limit = this.#options.maxRecords ?? MAX_BATCH_RECORDS;
    if (this.#open.tree.size > 0 && this.#open.tree.size + leaves.length > limit) this.#cut();
    this.#open.add(leaves, at);
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
  }

  /** An own batch is named on the ledger. */
  noteNamed(batch: number): void {
    this.#pace.noteNamed(batch);
  }

  /** A roster came into force: where it is the first that names this node, its chain begins. */
  async begin(): Promise<void> {
    if (this.#chain.state === null) await this.#chain.begin();
  }

  /** Seals nothing any more. What is unsealed stays in the store. */
  halt(): void {
    this.#halted = true;
    this.#close();
  }

  /** Waits for a seal under way. What is unsealed stays in the store and is recovered at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.#sealing;
  }

  #close(): void {
    this.#closed = true;
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
    const wait = this.#pace.waitMs(this.#chain.state?.batch ?? 0);
    if (wait === 0) return this.#cut();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#cutAtPace();
    }, Math.min(wait, this.#options.intervalMs));
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
    this.#sealing = this.#sealing.then(() => this.#persist(batch));
  }

  /** Tries until the store takes it. A batch after one that was given up at shutdown would not chain, so it waits too. */
  async #persist(open: OpenBatch): Promise<void> {
    while (!this.#halted && open.first === this.unsealedFrom) {
      try {
        const { state } = this.#chain;
        if (state === null || !(await this.#pace.turn(state.batch))) return;
        const draft = this.#draft(open, state);
        const walked = await this.#chain.walk(draft);
        await this.#write(draft, walked);
        return;
      } catch (error) {
        if (error instanceof ChainRefusal) return this.#refuse(error);
        if (this.#closed) return;
        this.#options.log.error({ err: error, first: open.first }, 'a batch could not be sealed; trying again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /**
   * `sealedAt` is the clock, but not before the last record, and never so long after it that a record which comes next
   * would lie before the least `from` of its batch: a clock that was set forward ends no chain.
   */
  #draft({ first, tree, times }: OpenBatch, { batch, prev }: { batch: number; prev: Envelope['prev'] }): Envelope {
    const { node, now, signer } = this.#options;
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
      keyId: signer().keyId,
    };
  }

  async #write(draft: Envelope, walked: WalkedBatch): Promise<void> {
    const { store, signer, besides, onSealed } = this.#options;
    // The key may have been replaced meanwhile.
    const key = signer();
    const envelope = { ...draft, keyId: key.keyId };
    const batch = { envelope, signed: await signStatement(envelopeStatement, envelope, key) };
    await store.write([
      ...batchOperations(batch, walked.tree.tiles()),
      ...this.#chain.operations(batch, walked),
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
