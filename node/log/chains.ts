import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readHead, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';

/** Where a node's chain stands in this store. `next` is the seq that its next batch must begin with. */
export interface Head {
  readonly batch: number;
  readonly hash: Sha256Hash | null;
  readonly next: number;
}

const NO_BATCH: Head = { batch: 0, hash: null, next: 1 };

/** Heads of all chains that this node holds whole. Moved only once a batch is on the disk. */
export class Chains {
  readonly #heads = new Map<NodeId, Head>();

  static async open(store: Store, nodes: readonly NodeId[]): Promise<Chains> {
    const chains = new Chains();
    for (const node of nodes) {
      const batch = await readHead(store, node);
      if (batch !== undefined) chains.advance(batch);
    }
    return chains;
  }

  head(node: NodeId): Head {
    return this.#heads.get(node) ?? NO_BATCH;
  }

  all(): ReadonlyMap<NodeId, Head> {
    return this.#heads;
  }

  /** Batches were dropped: `head` is the last that is left. */
  rewind(node: NodeId, head: StoredBatch | undefined): void {
    if (head === undefined) this.#heads.delete(node);
    else this.advance(head);
  }

  advance({ envelope, signed }: StoredBatch): void {
    this.#heads.set(envelope.node, {
      batch: envelope.batch,
      hash: hashText(nativeSuite, signed.statement),
      next: envelope.first + envelope.size,
    });
  }
}
