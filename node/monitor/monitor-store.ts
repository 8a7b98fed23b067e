import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
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
import { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
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
  v: Type.Literal(3),
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

const compiled = Compile(MonitorStateShape);
const stateCodec = jsonCodec((value: unknown): value is MonitorState => compiled.Check(value));

/** One row: all that is known beside the log and the checkpoints, which stand in tables of their own. */
const monitorStateTable = new Table('monitor-state', stateCodec);
const STATE_ROW = 'state';

const EMPTY_STATE: MonitorState = {
  v: 3,
  consensusTimestamp: null,
  shown: {},
  trimmed: 0,
  undecided: [],
  retractions: [],
  ahead: {},
  alerts: [],
  proofs: [],
};

/** The monitor's own store: the federation's log as it builds it, checkpoints, and what it was told to remember. */
export class MonitorStore implements AsyncDisposable {
  readonly rows: Store;
  readonly #temporary: string | null;

  private constructor(rows: Store, temporary: string | null) {
    this.rows = rows;
    this.#temporary = temporary;
  }

  /** In that folder, or for null in one that goes when it is closed. Throws `StoreError`. */
  static async open(directory: string | null): Promise<MonitorStore> {
    if (directory !== null) return new MonitorStore(await Store.open(directory), null);
    const temporary = await mkdtemp(join(tmpdir(), 'meridian-monitor-'));
    return new MonitorStore(await Store.open(temporary), temporary);
  }

  /** What the last round left; the empty state before the first. Throws where the row is of another form. */
  async state(): Promise<MonitorState> {
    return (await monitorStateTable.get(this.rows, STATE_ROW)) ?? EMPTY_STATE;
  }

  keep(state: MonitorState): Promise<void> {
    return this.rows.write([monitorStateTable.put([STATE_ROW], state)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rows[Symbol.asyncDispose]();
    if (this.#temporary !== null) await rm(this.#temporary, { recursive: true, force: true });
  }
}
