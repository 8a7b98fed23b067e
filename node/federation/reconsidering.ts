import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { Equivocations } from './equivocations.ts';
import type { FederationKeys } from './federation-keys.ts';

export interface ReconsideringOptions {
  readonly keys: Pick<FederationKeys, 'onRevocation'>;
  readonly equivocations: Pick<Equivocations, 'knows' | 'reconsider'>;
  /** Cosigns a node's chain on, where nothing taints it any more. */
  readonly cosign: (node: NodeId) => Promise<void>;
  readonly log: Logger;
}

/** Has proofs of equivocation judged again when they may have fallen, or stand again. */
export class Reconsidering implements AsyncDisposable {
  readonly #options: ReconsideringOptions;
  readonly #stopListening: () => void;
  readonly #running = new Set<Promise<void>>();

  constructor(options: ReconsideringOptions) {
    this.#options = options;
    this.#stopListening = options.keys.onRevocation(({ node }) => this.#start(node));
  }

  /** The ledger shows batches: one of them may have been signed in time by a key that was revoked since. */
  noteAnchors(anchors: readonly { readonly node: NodeId; readonly batch: number }[]): void {
    for (const { node, batch } of anchors) if (this.#options.equivocations.knows(node, batch)) this.#start(node, batch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    await Promise.all(this.#running);
  }

  #start(node: NodeId, batch?: number): void {
    const run = this.#reconsider(node, batch).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #reconsider(node: NodeId, batch?: number): Promise<void> {
    const { equivocations, cosign, log } = this.#options;
    try {
      await equivocations.reconsider(node, batch);
      await cosign(node);
    } catch (error) {
      log.error({ err: error, node }, 'the equivocations of a node could not be judged again');
    }
  }
}
