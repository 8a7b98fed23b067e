import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { readBatch, type StoredBatch } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';
import type { Chains } from './chains.ts';
import type { Cosignatures } from './cosignatures.ts';
import type { Equivocations } from './equivocations.ts';
import type { FederationKeys } from './federation-keys.ts';
import { Lanes } from '../lanes.ts';

export interface WitnessOptions {
  readonly self: NodeId;
  readonly store: Store;
  /** The key that signs at the moment. */
  readonly signer: () => Signer;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly cosignatures: Cosignatures;
  readonly equivocations: Equivocations;
  readonly now: () => number;
  readonly log: Logger;
  /** Looks for a rival of an envelope once more. */
  readonly watch: (signed: SignedStatement) => Promise<void>;
  /** Told of the last of those that were made together: whoever lacks the others sees the gap, and pulls them. */
  readonly onCosigned: (signed: SignedStatement) => Promise<void>;
}

/** Pause after the store or the key refused a cosignature. In milliseconds. */
const RETRY_MS = 1_000;
/** Batches that are cosigned together, in one write. */
const RUN_BATCHES = 64;

/**
 * Cosigns the chains of the other members: every batch that is whole in the store, in order, and none from the first
 * that has a rival.
 *
 * Crash order: the batch is on the disk before it is cosigned. Whatever stops in between, the next call for the chain
 * goes on from the last cosignature made: one that failed comes again by itself, for there may be no other batch for
 * long; a start calls for every chain, once the node's key is certified and the end of its own chain is known. Before
 * that it cosigns nothing: a store that is a copy, or was lost, does not know yet what this node cosigned.
 */
export class Witness implements Disposable {
  readonly #options: WitnessOptions;
  readonly #lanes = new Lanes<NodeId>();
  readonly #retries = new Map<NodeId, NodeJS.Timeout>();
  #begun = false;
  #closed = false;

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** Cosigns what is held of a node's chain and was not cosigned yet. What fails is tried again, and never rejects. */
  async cosign(node: NodeId): Promise<void> {
    if (!this.#begun) return;
    try {
      await this.#lanes.exclusive(node, () => this.#cosign(node));
    } catch (error) {
      if (this.#closed) return;
      this.#options.log.error({ err: error, node }, 'a batch could not be cosigned; trying again');
      clearTimeout(this.#retries.get(node));
      this.#retries.set(
        node,
        setTimeout(() => void this.cosign(node), RETRY_MS),
      );
    }
  }

  /** Cosigns every chain, and from then on whatever is called for. */
  async cosignAll(): Promise<void> {
    this.#begun = true;
    for (const node of this.#options.chains.all().keys()) await this.cosign(node);
  }

  /** Ends the trying. A cosignature under way fails with the store, at the latest. */
  [Symbol.dispose](): void {
    this.#closed = true;
    for (const retry of this.#retries.values()) clearTimeout(retry);
  }

  async #cosign(node: NodeId): Promise<void> {
    const { self, keys, chains, cosignatures, equivocations, now, onCosigned } = this.#options;
    if (node === self) return;
    let next = cosignatures.watermark(node, self) + 1;
    while (next <= chains.head(node).batch) {
      const run = await this.#run(node, next, Math.min(next + RUN_BATCHES - 1, chains.head(node).batch));
      next += RUN_BATCHES;
      const signer = this.#options.signer();
      // What is signed before the key's certificate begins, or after its revocation, would never count.
      const { directory } = keys;
      if (directory.get(self, signer.keyId) === undefined || directory.revocation(self, signer.keyId) !== undefined) {
        return;
      }
      const untainted = run.batches.filter(({ envelope: { batch } }) => !equivocations.taints(node, batch));
      const last = (await cosignatures.witness(untainted, self, signer, now())).at(-1);
      if (last !== undefined) await onCosigned(last);
      if (!run.isWhole || untainted.length < run.batches.length) return;
    }
  }

  /** Batches to cosign, from one to another; not whole where it ends before one that is missing or has a rival. */
  async #run(node: NodeId, from: number, to: number): Promise<{ batches: StoredBatch[]; isWhole: boolean }> {
    const { self, store, cosignatures, equivocations, watch } = this.#options;
    const batches: StoredBatch[] = [];
    for (let number = from; number <= to; number++) {
      const batch = await readBatch(store, node, number);
      if (batch === undefined) return { batches, isWhole: false };
      await watch(batch.signed);
      if (equivocations.taints(node, number)) return { batches, isWhole: false };
      // It may be here already, from a peer: made by this node before it lost its store.
      if (!(await cosignatures.has(node, number, self))) batches.push(batch);
    }
    return { batches, isWhole: true };
  }
}
