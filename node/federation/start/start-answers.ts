import Type, { type Static } from 'typebox';
import type { NodeId } from '../../../protocol/ids.ts';
import { type SignedCheckpoint, SignedCheckpointShape } from '../../../protocol/log/checkpoint.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import { Closed, CountShape } from '../../../protocol/shapes.ts';
import { SignedStatementShape } from '../../../protocol/statement/statement.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Chains } from '../../log/chains.ts';
import type { CheckpointStore } from '../../log/checkpoint-store.ts';
import { checkpointFrames, readCheckpointFrames } from '../../log/log-forms.ts';
import { PeerStatementError } from '../../log/members/peer-statement-error.ts';
import { type StartTold, startToldTable } from '../../log/start-tables.ts';
import type { Rows } from '../../store/store.ts';

/** Checkpoints of one answer at most: the newest by each of a member's last keys, and one that is not judged yet. */
const MAX_CHECKPOINTS = 4;

/** `start` protocol: what a member tells one that has started. */
const StartAnswerShape = Closed({
  /** The asker's last batch that is held here; 0 for none. */
  batch: CountShape,
  /** The asker's own checkpoints that are known here. */
  checkpoints: Type.Array(SignedCheckpointShape, { maxItems: MAX_CHECKPOINTS }),
  /** The asker's last envelope that was announced here, of a batch behind those that are held. */
  announced: Type.Optional(SignedStatementShape),
});
type StartAnswer = Static<typeof StartAnswerShape>;

const compiled = Compile(StartAnswerShape);

/** `start` protocol: asks how far the asker's own chain is held. */
export const START_REQUEST = new Uint8Array();

export function startFrames({ checkpoints, ...told }: StartAnswer): Generator<Uint8Array> {
  return checkpointFrames(told, checkpoints.slice(0, MAX_CHECKPOINTS));
}

/** Reads the frames of an answer. Throws `PeerStatementError` `malformed`. */
export function readStartAnswer(frames: readonly Uint8Array[]): StartAnswer {
  if (frames.length > MAX_CHECKPOINTS + 1) throw malformed();
  const answer = readCheckpointFrames(frames);
  if (!compiled.Check(answer)) throw malformed();
  return answer;
}

function malformed(): PeerStatementError {
  return new PeerStatementError('malformed', 'an answer to a start of another shape');
}

export interface StartAnswersOptions {
  readonly store: Rows;
  readonly chains: Pick<Chains, 'head'>;
  readonly checkpointStore: Pick<CheckpointStore, 'signedTextsOf'>;
}

/**
 * What this member told others when they asked at their start, and what they may rely on since: of a node that asked it
 * names nothing in the node's place that the node was not told of, or did not give itself since (protocol §9). So a
 * copy that asked everybody it needs cannot be surprised by a batch of its past.
 *
 * Crash order: what is told is on the disk before it is sent; what came from a node is noted after the batch is stored,
 * so a crash between the two forgets that it may be named.
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
