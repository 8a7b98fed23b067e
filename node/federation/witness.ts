import type { NodeId } from '../../protocol/ids.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { readBatch } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';
import type { Chains } from './chains.ts';
import type { Cosignatures } from './cosignatures.ts';
import type { Equivocations } from './equivocations.ts';
import type { FederationKeys } from './federation-keys.ts';
import { Lanes } from '../lanes.ts';
import { mayWitness, passUnwitnessed } from './witness-terms.ts';

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
  /** Looks for a rival of an envelope once more. */
  readonly watch: (signed: SignedStatement) => Promise<void>;
  readonly onCosigned: (signed: SignedStatement) => Promise<void>;
}

/**
 * Cosigns the chains of the other members: every batch that is whole in the store, in order, and none from the first
 * that has a rival.
 *
 * Crash order: the batch is on the disk before it is cosigned. Whatever stops in between, the next call for the chain
 * goes on from the last cosignature made; a start calls for every chain, once the node's key is certified.
 */
export class Witness {
  readonly #options: WitnessOptions;
  readonly #lanes = new Lanes<NodeId>();

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  /** Cosigns what is held of a node's chain and was not cosigned yet. */
  cosign(node: NodeId): Promise<void> {
    return this.#lanes.exclusive(node, () => this.#cosign(node));
  }

  async cosignAll(): Promise<void> {
    for (const node of this.#options.chains.all().keys()) await this.cosign(node);
  }

  async #cosign(node: NodeId): Promise<void> {
    const { self, store, keys, chains, cosignatures, equivocations, now, watch, onCosigned } = this.#options;
    if (node === self) return;
    const from = (await passUnwitnessed(store, keys.rosters, node, self, cosignatures.watermark(node, self))) + 1;
    for (let number = from; number <= chains.head(node).batch; number++) {
      const batch = await readBatch(store, node, number);
      if (batch === undefined) return;
      // What a roster stands under that does not name this node is not its to witness.
      if (!mayWitness(keys.rosters.version(batch.envelope.roster), self)) continue;
      await watch(batch.signed);
      if (equivocations.taints(node, number)) return;
      // It may be here already, from a peer: made by this node before it lost its store.
      if (cosignatures.watermark(node, self) >= number) continue;
      const signer = this.#options.signer();
      // What is signed before the key's certificate begins, or after its revocation, would never count.
      const { directory } = keys;
      if (directory.get(self, signer.keyId) === undefined || directory.revocation(self, signer.keyId) !== undefined) {
        return;
      }
      await onCosigned(await cosignatures.witness(batch, self, signer, now()));
    }
  }
}
