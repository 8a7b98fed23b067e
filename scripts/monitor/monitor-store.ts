import Type, { type Static } from 'typebox';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignedCheckpointShape } from '../../protocol/log/checkpoint.ts';
import {
  Closed,
  ConsensusTimestampShape,
  CountShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
} from '../../protocol/shapes.ts';
import { Store, StoreError } from '../../node/store/store.ts';
import { jsonTable } from '../../node/store/table.ts';
import { AlertShape } from './alerts.ts';

const UndecidedShape = Closed({
  node: NodeIdShape,
  batch: OrdinalShape,
  envelope: Sha256Shape,
  /** The member that named it. */
  by: NodeIdShape,
  /** Of the message. */
  consensusTimestamp: ConsensusTimestampShape,
});
/** A batch that was named and is not decided. */
export type UndecidedName = Static<typeof UndecidedShape>;

const RetractionShape = Closed({ node: NodeIdShape, earlier: SignedCheckpointShape, later: SignedCheckpointShape });
/** Two checkpoints of a member, of which the later covers no less of the log and vouches for less. */
export type Retraction = Static<typeof RetractionShape>;

const MonitorStateShape = Closed({
  v: Type.Literal(4),
  /** Consensus time of the last message that was processed; null before the first. */
  consensusTimestamp: OrNull(ConsensusTimestampShape),
  /** Of each chain, the last batch up to which nodes have shown every decided envelope. */
  shown: Type.Record(Type.String(), CountShape),
  /** Decisions before this one are kept as hashes of the tree alone. */
  trimmed: CountShape,
  undecided: Type.Array(UndecidedShape),
  retractions: Type.Array(RetractionShape),
  /** Member → epoch milliseconds since when it is ahead of the ledger as it was read. */
  ahead: Type.Record(Type.String(), CountShape),
  alerts: Type.Array(AlertShape),
  /** Names of the proofs that were written. */
  proofs: Type.Array(Type.String()),
});
export type MonitorState = Static<typeof MonitorStateShape>;

/** One row: all that is known beside the log and the checkpoints, which stand in tables of their own. */
const monitorStateTable = jsonTable('monitor-state', MonitorStateShape);
const STATE_ROW = 'state';

const EMPTY_STATE: MonitorState = {
  v: 4,
  consensusTimestamp: null,
  shown: {},
  trimmed: 0,
  undecided: [],
  retractions: [],
  ahead: {},
  alerts: [],
  proofs: [],
};

/**
 * The monitor's own store: the federation's log as it builds it, checkpoints, and what it was told to remember.
 *
 * Crash order: its state is the first row of a new store, and says of what form all the others are.
 */
export class MonitorStore implements AsyncDisposable {
  readonly rows: Store;
  readonly #temporary: string | null;

  private constructor(rows: Store, temporary: string | null) {
    this.rows = rows;
    this.#temporary = temporary;
  }

  /** In that folder, or for null in one that goes when it is closed. Throws `StoreError`. */
  static async open(directory: string | null): Promise<MonitorStore> {
    const temporary = directory === null ? await mkdtemp(join(tmpdir(), 'meridian-monitor-')) : null;
    await using opening = new AsyncDisposableStack();
    const rows = await Store.open(directory ?? temporary ?? '');
    const store = opening.use(new MonitorStore(rows, temporary));
    if ((await rows.first({})) === undefined) await store.keep(EMPTY_STATE);
    opening.move();
    return store;
  }

  /** What the last round left. Throws `StoreError` `format`, in one line, where the store is of another form. */
  async state(): Promise<MonitorState> {
    const state = await monitorStateTable.get(this.rows, STATE_ROW).catch((error: unknown) => {
      if (error instanceof StoreError) throw error;
      return undefined;
    });
    if (state !== undefined) return state;
    const what = 'the folder holds what another release of the monitor wrote, or something else';
    throw new StoreError('format', `${what}: start with an empty one, and the topic is read anew`);
  }

  keep(state: MonitorState): Promise<void> {
    return this.rows.write([monitorStateTable.put([STATE_ROW], state)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rows[Symbol.asyncDispose]();
    if (this.#temporary !== null) await rm(this.#temporary, { recursive: true, force: true });
  }
}
