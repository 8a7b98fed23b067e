import { hashText, type Sha256Hash, type Sha384Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { decide, type Rival, type TopicMessage } from '../../protocol/log/decide.ts';
import { type DecisionState, knownNode } from '../../protocol/log/decision-state.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import { leafHash } from '../../protocol/merkle/hash.ts';
import { initialState } from '../../protocol/log/in-force.ts';
import { consistencyAt, pathAt, type ReadTile, rootAt } from '../../protocol/log/log-tiles.ts';
import { LogTree } from '../../protocol/log/log-tree.ts';
import { type BatchMessage, type LedgerMessage, parseLedgerMessage } from '../../protocol/log/message.ts';
import { tileWidth } from '../../protocol/log/tile-path.ts';
import { type Timestamp, timestampOfConsensus } from '../../protocol/time.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows } from '../store/store.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import {
  DECISION_STATE_ROW,
  decidedBatchTable,
  decisionStateTable,
  logEntryTable,
  logTileTable,
  rosterTextTable,
} from './log-tables.ts';
import { type LedgerName, type LoggedRival, loggedRival, rivalNameTable } from './rival-name.ts';

const HASH_BYTES = 32;

/** A decision as it stands in the log: its exact text, and what its message says. */
export interface LoggedDecision {
  readonly decision: Decision;
  readonly text: string;
  readonly named: LedgerMessage;
}

/** One that decides a batch. */
export interface LoggedBatch extends LoggedDecision {
  readonly named: BatchMessage;
}

/** What a page of final messages came to. */
export interface Advance {
  readonly decided: readonly LoggedDecision[];
  /** Names beside the one that was decided, the first of each number, by accounts of the node itself. */
  readonly rivals: readonly LoggedRival[];
  /** Messages that were read and decided nothing. */
  readonly undecided: readonly TopicMessage[];
  /** The roster whose text the next message cannot be read without; null where all messages were read. */
  readonly needs: Sha256Hash | null;
}

/** The store's log is not one that this federation's topic makes: it was damaged, or is of another federation. */
export class LogDamagedError extends Error {
  override readonly name = 'LogDamagedError';
}

/**
 * The federation's log as this node builds it from the final messages of the topic (protocol §2): decisions, their tree
 * in tiles, and the state that the next message is read with.
 *
 * Crash order: decisions, tiles, state and the topic's position land in one atomic write; listeners are told after it.
 * A crash before it reads the same messages again and comes to the same.
 *
 * Ownership: `#state` and `#tree` are moved by `take` alone, one call after the other, after the write.
 */
export class FederationLog {
  readonly #store: Rows;
  #state: DecisionState;
  #tree: LogTree;
  #taking: Promise<unknown> = Promise.resolve();
  readonly #readTile: ReadTile;

  private constructor(store: Rows, state: DecisionState, tree: LogTree) {
    this.#store = store;
    this.#state = state;
    this.#tree = tree;
    this.#readTile = readTileOf(store);
  }

  /**
   * Goes on from the store, or begins with the genesis roster. Throws `RosterError` on one that is none, and
   * `LogDamagedError` where the store holds the log of another federation or misses a part of it.
   */
  static async open(store: Rows, genesisText: string): Promise<FederationLog> {
    const genesis = initialState(nativeSuite, genesisText);
    const stored = await decisionStateTable.get(store, DECISION_STATE_ROW);
    if (stored !== undefined && stored.federation !== genesis.federation) {
      throw new LogDamagedError('the store holds the log of another federation');
    }
    if (stored === undefined) {
      await store.write([
        decisionStateTable.put([DECISION_STATE_ROW], genesis),
        rosterTextTable.put([genesis.federation], genesisText),
      ]);
    }
    const state = stored ?? genesis;
    try {
      return new FederationLog(store, state, await LogTree.open(nativeSuite, state.size, readTileOf(store)));
    } catch (error) {
      throw new LogDamagedError('tiles of the log are missing', { cause: error });
    }
  }

  /** What the messages so far came to. */
  get state(): DecisionState {
    return this.#state;
  }

  /** Decisions in the log. */
  get size(): number {
    return this.#tree.size;
  }

  /** Root of the tree as it is. */
  get root(): Sha256Hash {
    return writeSha256(this.#tree.root());
  }

  /** Root of the tree as it was at a size, from 0 to `size`. */
  async rootAt(size: number): Promise<Sha256Hash> {
    if (size === this.#tree.size) return this.root;
    if (size > this.#tree.size) throw new RangeError(`the log has ${this.#tree.size} decisions, not ${size}`);
    return writeSha256(await rootAt(nativeSuite, size, this.#readTile));
  }

  /** Inclusion path of a decision in the tree as it was at a size: hashes from the leaf up. */
  pathAt(index: number, size: number): Promise<Uint8Array[]> {
    return pathAt(nativeSuite, index, size, this.#readTile);
  }

  /** Proof that the tree as it was at a size is the beginning of what it was at a later one. */
  consistencyAt(from: number, to: number): Promise<Uint8Array[]> {
    return consistencyAt(nativeSuite, from, to, this.#readTile);
  }

  /** Text of a decision. */
  async entry(index: number): Promise<string | undefined> {
    return (await logEntryTable.get(this.#store, index))?.text;
  }

  /** The decision at a place; undefined where it is not here. */
  async decision(index: number): Promise<LoggedDecision | undefined> {
    const text = await this.entry(index);
    if (text === undefined) return undefined;
    const decision = decisionText.parse(text);
    return { decision, text, named: parseLedgerMessage(decision.message) };
  }

  /** When the decision at a place was made. Throws `LogDamagedError` where it is not here. */
  async timeOf(index: number): Promise<Timestamp> {
    const logged = await this.decision(index);
    if (logged === undefined) throw new LogDamagedError(`entry ${index} of the log is missing`);
    return timestampOfConsensus(logged.decision.consensusTimestamp);
  }

  /** Texts of decisions from `from` on, `count` of them or as many as there are. */
  async entries(from: number, count: number): Promise<readonly string[]> {
    const indexes = Array.from({ length: Math.max(0, Math.min(count, this.size - from)) }, (_, i) => from + i);
    const rows = await this.#store.getMany(indexes.map((index) => logEntryTable.key(index)));
    return rows.map((row, i) => {
      if (row === undefined) throw new LogDamagedError(`entry ${from + i} of the log is missing`);
      return logEntryTable.decode(row).text;
    });
  }

  /** The first `width` hashes of a tile; undefined where the log does not have them yet. */
  async tile(level: number, index: number, width: number): Promise<Uint8Array | undefined> {
    if (width > tileWidth(this.size, level, index)) return undefined;
    return (await this.#readTile(level, index, width)).subarray(0, width * HASH_BYTES);
  }

  /** What was decided of a batch; undefined while nothing is. Throws `LogDamagedError`. */
  async batch(node: NodeId, batch: number): Promise<LoggedBatch | undefined> {
    if (batch > (knownNode(this.#state, node)?.last?.batch ?? 0)) return undefined;
    const logged = await this.keptBatch(node, batch);
    if (logged === undefined) throw new LogDamagedError(`the decision of batch ${node}/${batch} is missing`);
    return logged;
  }

  /** The same of a log that is kept in part: undefined too for a batch that it let go. */
  async keptBatch(node: NodeId, batch: number): Promise<LoggedBatch | undefined> {
    const index = await decidedBatchTable.get(this.#store, node, batch);
    if (index === undefined) return undefined;
    const logged = await this.decision(index);
    if (logged === undefined || !decidesBatch(logged)) {
      throw new LogDamagedError(`entry ${index} of the log does not decide batch ${node}/${batch}`);
    }
    return logged;
  }

  /** The decision that names a batch; undefined while there is none. Throws `LogDamagedError`. */
  async decisionOf(node: NodeId, batch: number): Promise<Decision | undefined> {
    return (await this.batch(node, batch))?.decision;
  }

  /** The message by which the node's own account names another envelope than the one that was decided of a batch. */
  rivalOf(node: NodeId, batch: number): Promise<LedgerName | undefined> {
    return rivalNameTable.get(this.#store, node, batch);
  }

  /** Keeps the text of a roster that somebody may name. It says nothing of whether it is in force. */
  async keepRoster(text: string): Promise<Sha256Hash> {
    const hash = hashText(nativeSuite, text);
    if ((await rosterTextTable.get(this.#store, hash)) === undefined) {
      await this.#store.write([rosterTextTable.put([hash], text)]);
    }
    return hash;
  }

  /** Text of a roster by its hash. */
  rosterText(hash: Sha256Hash): Promise<string | undefined> {
    return rosterTextTable.get(this.#store, hash);
  }

  /**
   * Reads final messages, in order from the one after the last that was read, with rows that land in the same write.
   * Stops before a message that puts a roster in force whose text is not here: `needs` says which. Throws `DecideError`
   * where the messages do not follow, and `StoreError`.
   */
  take(messages: readonly TopicMessage[], besides: readonly Operation[] = []): Promise<Advance> {
    const taking = this.#taking.then(() => this.#take(messages, besides));
    this.#taking = taking.catch(() => undefined);
    return taking;
  }

  async #take(messages: readonly TopicMessage[], besides: readonly Operation[]): Promise<Advance> {
    const decided: LoggedDecision[] = [];
    const rows: Operation[] = [];
    const rivals: LoggedRival[] = [];
    const undecided: TopicMessage[] = [];
    const texts = new Map<Sha256Hash, string>();
    const slices = new TimeSlices();
    let state = this.#state;
    let needs: Sha256Hash | null = null;
    for (let at = 0; at < messages.length && needs === null;) {
      if (slices.isOver) await slices.rest();
      const message = messages[at];
      if (message === undefined) break;
      const outcome = decide(nativeSuite, state, message, (hash) => texts.get(hash));
      if (outcome.kind === 'needs-roster') {
        const text = await this.rosterText(outcome.statement);
        if (text === undefined) needs = outcome.statement;
        else texts.set(outcome.statement, text);
        continue;
      }
      const { runningHash } = state;
      state = outcome.state;
      at++;
      if (outcome.kind === 'decided') {
        const { decision, named } = outcome;
        const logged = { decision, named, text: decisionText.write(decision) };
        decided.push(logged);
        rows.push(...rowsOf(logged, runningHash));
      } else {
        undecided.push(message);
        const { rival } = outcome;
        const isKnown = rivals.some(({ node, batch }) => rival?.node === node && rival.batch === batch);
        if (rival !== undefined && !isKnown && (await this.#isNew(rival, decided))) {
          rivals.push(loggedRival(rival, message, state));
        }
      }
    }
    const { tree, tiles } = this.#tree.grow(decided.map(({ text }) => leafHash(nativeSuite, text)));
    await this.#store.write([
      ...rows,
      ...rivals.map(({ node, batch, name }) => rivalNameTable.put([node, batch], name)),
      ...tiles.map(({ level, index, hashes }) => logTileTable.put([level, index], hashes)),
      decisionStateTable.put([DECISION_STATE_ROW], state),
      ...besides,
    ]);
    this.#state = state;
    this.#tree = tree;
    return { decided, rivals, undecided, needs };
  }

  /**
   * Whether no rival of that number is kept, and the log decided another envelope of it. A log that is kept in part
   * says nothing of the numbers that it let go.
   */
  async #isNew({ node, batch, envelope }: Rival, decided: readonly LoggedDecision[]): Promise<boolean> {
    if ((await this.rivalOf(node, batch)) !== undefined) return false;
    const here = decided.filter(decidesBatch).find(({ named }) => named.node === node && named.batch === batch);
    const logged = here ?? (await this.keptBatch(node, batch));
    return logged !== undefined && logged.named.envelope !== envelope;
  }
}

function decidesBatch(logged: LoggedDecision): logged is LoggedBatch {
  return logged.named.type === 'batch';
}

function rowsOf({ decision, named, text }: LoggedDecision, before: Sha384Hash): Operation[] {
  const entry = logEntryTable.put([decision.index], { text, before });
  return named.type === 'batch' ? [entry, decidedBatchTable.put([named.node, named.batch], decision.index)] : [entry];
}

function readTileOf(store: Rows): ReadTile {
  return async (level, index) => {
    const tile = await logTileTable.get(store, level, index);
    if (tile === undefined) throw new LogDamagedError(`tile ${level}/${index} of the log is missing`);
    return tile;
  };
}
