import type { NodeId } from '../../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import type { Chains } from '../../log/chains.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { CheckpointStore } from '../../log/checkpoint-store.ts';
import type { Rows } from '../../store/store.ts';
import type { StartAnswer } from './start-forms.ts';
import { type StartTold, startToldTable } from '../../log/start-tables.ts';

export interface StartAnswersOptions {
  readonly store: Rows;
  readonly chains: Pick<Chains, 'head'>;
  readonly checkpointStore: Pick<CheckpointStore, 'signedTextsOf'>;
}

/**
 * What this member told others when they asked at their start, and what they may rely on since: of a node that asked it
 * names nothing in the node's place that the node was not told of, or did not give itself since (TRUST §9). So a copy that
 * asked everybody it needs cannot be surprised by a batch of its past.
 *
 * Crash order: what is told is on the disk before it is sent; what came from a node is noted after the batch is stored, so a
 * crash between the two forgets that it may be named.
 *
 * Ownership: `#told` is moved by one answer to a node at a time, after the write.
 */
export class StartAnswers {
  readonly #options: StartAnswersOptions;
  readonly #told: Map<NodeId, StartTold>;
  readonly #locks = new KeyedLock<NodeId>();

  private constructor(options: StartAnswersOptions, told: Map<NodeId, StartTold>) {
    this.#options = options;
    this.#told = told;
  }

  /** Goes on from the store. `nodes`: all that any roster known here names. */
  static async open(options: StartAnswersOptions, nodes: readonly NodeId[]): Promise<StartAnswers> {
    const told = new Map<NodeId, StartTold>();
    for (const node of nodes) {
      const row = await startToldTable.get(options.store, node);
      if (row !== undefined) told.set(node, row);
    }
    return new StartAnswers(options, told);
  }

  /** What a node that has started is told. Resolves once that is noted on the disk. */
  answer(node: NodeId): Promise<StartAnswer> {
    return this.#locks.exclusive(node, async () => {
      const { chains, checkpointStore } = this.#options;
      const { batch } = chains.head(node);
      const before = this.#told.get(node);
      if (before?.batch !== batch || before.since !== null) await this.#note(node, { batch, since: null });
      const checkpoints: SignedCheckpoint[] = [...checkpointStore.signedTextsOf(node)];
      return { batch, checkpoints };
    });
  }

  /** Batches of a node came from the node itself, and are on the disk. */
  noteFromOrigin(node: NodeId, batches: readonly number[]): Promise<void> {
    return this.#locks.exclusive(node, async () => {
      const told = this.#told.get(node);
      // Who never asked relies on nothing.
      if (told === undefined) return;
      let { since } = told;
      for (const batch of batches) {
        since = since !== null && batch === since.last + 1 ? { ...since, last: batch } : { first: batch, last: batch };
      }
      if (since !== told.since) await this.#note(node, { ...told, since });
    });
  }

  /** Whether this member may name a batch in its node's place. */
  mayRescue(node: NodeId, batch: number): boolean {
    const told = this.#told.get(node);
    if (told === undefined || batch <= told.batch) return true;
    return told.since !== null && batch >= told.since.first && batch <= told.since.last;
  }

  async #note(node: NodeId, told: StartTold): Promise<void> {
    await this.#options.store.write([startToldTable.put([node], told)]);
    this.#told.set(node, told);
  }
}
