import type { Logger } from 'pino';
import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type Envelope, envelopeStatement } from '../../protocol/statement/envelope.ts';
import { signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { timestampOf } from '../../protocol/time.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { batchOperations, readHead, type StoredBatch } from './batch-tables.ts';
import { emptyBatch, type OpenBatch, recoverOpenBatch } from './open-batch.ts';

/** Records after which a batch is sealed without waiting for its interval. */
export const MAX_BATCH_RECORDS = 65_536;
/** Pause after a seal that the store refused. In milliseconds. */
const RETRY_MS = 500;

export interface SealerOptions {
  readonly node: NodeId;
  readonly store: Store;
  /** The key that signs at the moment. */
  readonly signer: () => Signer;
  readonly now: () => number;
  /** Longest time that a record waits for its batch, in milliseconds. */
  readonly intervalMs: number;
  readonly maxRecords?: number;
  /** Version of the roster in force. */
  readonly rosterVersion: () => number;
  /** Rows that land in the sealing write beside the batch's own: the anchor's outbox entry. */
  readonly besides: (batch: StoredBatch) => readonly Operation[];
  /** Told of every batch once it is on the disk. */
  readonly onSealed: (batch: StoredBatch) => void;
  readonly log: Logger;
}

/** Where the next batch joins: number and hash of the last envelope, and the seq that it must begin with. */
interface ChainHead {
  readonly batch: number;
  readonly hash: Sha256Hash | null;
  readonly next: number;
}

/**
 * Cuts the node's records into batches. Each envelope names the one before, so the batches form one chain.
 *
 * Crash order: the envelope is signed, then envelope, tiles and outbox entry land in one atomic write, then the batch is
 * announced. A crash before the write forgets the signature, which nobody saw; the open batch is rebuilt at start.
 *
 * Ownership: `#open` is appended to by `add` and swapped by the sealing loop, which alone moves `#head`.
 */
export class Sealer implements AsyncDisposable {
  readonly #options: SealerOptions;
  #open: OpenBatch;
  #head: ChainHead;
  #timer: NodeJS.Timeout | undefined;
  #sealing: Promise<void> = Promise.resolve();
  #closed = false;
  #halted = false;

  private constructor(options: SealerOptions, open: OpenBatch, head: StoredBatch | undefined) {
    this.#options = options;
    this.#open = open;
    this.#head = headOf(head);
  }

  /** Continues the chain in the store and recovers the records that were not yet sealed. */
  static async open(options: SealerOptions): Promise<Sealer> {
    const { open, head } = await readChain(options);
    return new Sealer(options, open, head);
  }

  /** Reads again where the store's chain ends: batches were taken back from peers. Only before `start`. */
  async reload(): Promise<void> {
    const { open, head } = await readChain(this.#options);
    this.#open = open;
    this.#head = headOf(head);
  }

  /** Records that wait to be sealed. */
  get waiting(): number {
    return this.#open.tree.size;
  }

  /** First record that is in no batch on the disk. */
  get unsealedFrom(): number {
    return this.#head.next;
  }

  start(): void {
    if (this.#open.tree.size > 0) this.#arm();
  }

  /** Takes the leaves of a group that is on the disk. A batch never splits a group. */
  add(leaves: readonly Uint8Array[]): void {
    const limit = this.#options.maxRecords ?? MAX_BATCH_RECORDS;
    if (this.#open.tree.size > 0 && this.#open.tree.size + leaves.length > limit) void this.seal();
    for (const leaf of leaves) this.#open.tree.append(leaf);
    if (this.#open.tree.size >= limit) void this.seal();
    else this.#arm();
  }

  /** Seals what waits now. Resolves once it is on the disk. */
  seal(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#open.tree.size > 0 && !this.#halted) {
      const batch = this.#open;
      this.#open = emptyBatch(batch.first + batch.tree.size);
      this.#sealing = this.#sealing.then(() => this.#persist(batch));
    }
    return this.#sealing;
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
  }

  #arm(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => void this.seal(), this.#options.intervalMs);
  }

  /** Tries until the store takes it. A batch after one that was given up at shutdown would not chain, so it waits too. */
  async #persist(open: OpenBatch): Promise<void> {
    while (!this.#halted && open.first === this.#head.next) {
      try {
        const batch = await this.#sign(open);
        await this.#options.store.write([
          ...batchOperations(batch, open.tree.tiles()),
          ...this.#options.besides(batch),
        ]);
        this.#head = headOf(batch);
        this.#options.onSealed(batch);
        return;
      } catch (error) {
        if (this.#closed) return;
        this.#options.log.error({ err: error, first: open.first }, 'a batch could not be sealed; trying again');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #sign({ first, tree }: OpenBatch): Promise<StoredBatch> {
    const { node, now, rosterVersion } = this.#options;
    const signer = this.#options.signer();
    const envelope: Envelope = {
      v: 1,
      type: 'batch',
      node,
      batch: this.#head.batch + 1,
      first,
      size: tree.size,
      root: writeSha256(tree.root()),
      prev: this.#head.hash,
      sealedAt: timestampOf(now()),
      keyId: signer.keyId,
      roster: rosterVersion(),
    };
    return { envelope, signed: await signStatement(envelopeStatement, envelope, signer) };
  }
}

async function readChain({ store, node }: SealerOptions): Promise<{ open: OpenBatch; head: StoredBatch | undefined }> {
  const head = await readHead(store, node);
  const first = head === undefined ? 1 : head.envelope.first + head.envelope.size;
  return { open: await recoverOpenBatch(store, node, first), head };
}

function headOf(batch: StoredBatch | undefined): ChainHead {
  if (batch === undefined) return { batch: 0, hash: null, next: 1 };
  const { envelope, signed } = batch;
  return { batch: envelope.batch, hash: hashText(nativeSuite, signed.statement), next: envelope.first + envelope.size };
}
