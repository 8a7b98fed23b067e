import type { Logger } from 'pino';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import type { TopicMessage } from '../../protocol/log/decide.ts';
import { type DecisionState, knownNode } from '../../protocol/log/decision-state.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { AnchoringConfig } from '../anchoring/ledger/config.ts';
import type { MirrorMessage } from '../anchoring/ledger/mirror-shapes.ts';
import type { SpendLimits } from '../anchoring/ledger/spend-guard.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import type { Transport } from '../transport/contract.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { ConsensusSource, DEFAULT_QUERY_LIMITS } from '../anchoring/topic/consensus-source.ts';
import { mirrorSources } from '../anchoring/topic/message-source.ts';
import type { TopicReadingState } from '../anchoring/topic/reading-state.ts';
import type { TopicPoint } from '../anchoring/ledger/topic-point.ts';
import { TopicReading } from '../anchoring/topic/topic-reading.ts';
import { CheckpointStore } from '../log/checkpoint-store.ts';
import type { KnownCheckpoint } from '../log/known-checkpoint.ts';
import { Checkpoints } from '../log/checkpoints.ts';
import { checkpointStands, identityKeysOf } from '../log/checkpoint-standing.ts';
import { contradictingMajority } from '../log/contradiction.ts';
import type { Advance, FederationLog, LoggedDecision } from '../log/federation-log.ts';
import { logRosters } from '../log/log-rosters.ts';
import { isReleased, type Removal, removalOf } from '../log/removal.ts';
import { MemberClocks } from '../log/member-clocks.ts';
import { LogExchange } from './log-exchange.ts';
import type { LoggedRival } from '../log/rival-name.ts';
import { takeFinal } from '../log/take-final.ts';

const HOURS_A_DAY = 24;

export interface LogFollowerOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly config: AnchoringConfig;
  readonly federationLog: FederationLog;
  readonly keys: FederationKeys;
  /** The key that signs at the moment. */
  readonly signer: () => Signer;
  readonly transport: Transport;
  readonly faults: PeerFaults;
  /** Of each node, the last batch up to which this member has derived everything. */
  readonly vouched: () => ReadonlyMap<NodeId, number>;
  /** This node's last batch that it sealed, 0 for none, and how many of its records are in no batch. */
  readonly sealed: () => { readonly batch: number; readonly unsealed: number };
  /** Told once where this node was removed, and is done. Must not throw. */
  readonly onReleased?: () => void;
  /** Rows that land beside what the log makes of final messages. */
  readonly besides?: (messages: readonly TopicMessage[], state: DecisionState) => readonly Operation[];
  /** Looks for the text of a roster that is to come into force; undefined where nobody shows it now. */
  readonly findRoster: (hash: Sha256Hash) => Promise<string | undefined>;
  /** Told of decisions, in order, once they are on the disk. Must not throw. */
  readonly onDecided?: (decided: readonly LoggedDecision[]) => void;
  /** Told of names that their node signed beside the one that was decided. Must not throw. */
  readonly onRivals?: (rivals: readonly LoggedRival[]) => void;
  /** Told once where a majority of the roster in force contradicts this node's own tree. Must not throw. */
  readonly onContradicted?: (by: readonly NodeId[]) => void;
  /** Told of final messages that decided nothing. Must not throw. */
  readonly onUndecided?: (messages: readonly TopicMessage[]) => void;
  /** Told of messages that a mirror shows, long before they are final if they ever are. Must not throw. */
  readonly onShown?: (messages: readonly MirrorMessage[]) => void;
  /** Told of checkpoints that count from now on. Must not throw. */
  readonly onCounted?: (known: KnownCheckpoint) => void;
  readonly now: () => number;
  /** The clock of this node, as it is. */
  readonly clock: () => number;
  /** In [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Builds the federation's log from what is final on the ledger's topic, and signs and gathers checkpoints of it: the
 * way from the ledger to a word that other members share.
 *
 * From a mirror's page to a decision: `SourceReader` asks one mirror for a page; `Agreement` links it to what that
 * mirror told before (`linkMessages`, in its `Trail`) and compares it with other sources and members; what is final
 * `TopicReading` hands out in order; `takeFinal` gives it to `FederationLog.take`, where `decide` makes of each message
 * one decision at most. Nothing of a page is stored before that.
 */
export class LogFollower implements AsyncDisposable {
  readonly federationLog: FederationLog;
  readonly checkpointStore: CheckpointStore;
  /** Of the members of the roster in force. */
  readonly clocks: MemberClocks;
  readonly #options: LogFollowerOptions;
  readonly #consensus: ConsensusSource;
  readonly #reading: TopicReading;
  readonly #checkpoints: Checkpoints;
  readonly #exchange: LogExchange;
  readonly #stopListening: () => void;
  #needsRoster: Sha256Hash | null = null;
  #contradictedBy: readonly NodeId[] = [];
  #isReleased = false;
  /** What the log came to and was not told of yet, in order. */
  readonly #untold: Advance[] = [];
  #reconsiders = false;

  private constructor(options: LogFollowerOptions, checkpointStore: CheckpointStore, consensus: ConsensusSource) {
    this.#options = options;
    const { federationLog } = options;
    this.federationLog = federationLog;
    this.checkpointStore = checkpointStore;
    this.#consensus = consensus;
    const { keys, config, now, clock } = options;
    const { sequence, runningHash, federation } = federationLog.state;
    this.#reading = new TopicReading({
      ...options,
      topicId: config.topicId,
      head: { sequence, runningHash, consensusTimestamp: null },
      sources: mirrorSources(config.mirrors, config.topicId),
      topicInfo: (signal) => consensus.topicInfo(now(), signal),
      members: keys.rosters.current.members.map(({ node }) => node),
      onFinal: (messages) => this.#take(messages),
      onAgreed: () => this.#exchange.tell(),
      ...(config.readIntervalMs === undefined ? {} : { intervalMs: config.readIntervalMs }),
      ...(config.secondSourceMs === undefined ? {} : { secondSourceMs: config.secondSourceMs }),
    });
    this.#checkpoints = new Checkpoints({
      ...options,
      federation,
      checkpointStore,
      tree: federationLog,
      publish: (signed) => this.#exchange.publish(signed),
      onFalse: () => this.#judgeOwnTree(),
      isContradicted: () => this.#contradictedBy.length > 0,
      removedAt: () => this.#removedAt(),
      isSealing: () => options.sealed().unsealed > 0,
      onCounted: (known) => {
        options.onCounted?.(known);
        this.#judgeRelease();
      },
    });
    this.clocks = new MemberClocks({ now: clock, members: () => keys.rosters.current.members.map(({ node }) => node) });
    this.#exchange = new LogExchange({
      ...options,
      clocks: this.clocks,
      now: clock,
      reading: this.#reading,
      checkpointStore,
      checkpoints: this.#checkpoints,
    });
    this.#stopListening = keys.currentRosters.onRoster(({ members }) =>
      this.#reading.setMembers(members.map(({ node }) => node)),
    );
  }

  /** Reads the store only: nothing is asked before `start`. Throws `LogDamagedError`. */
  static async open(options: LogFollowerOptions): Promise<LogFollower> {
    const { store, config, keys, federationLog } = options;
    const checkpointStore = await CheckpointStore.open(store, federationLog, {
      rosters: () => logRosters(federationLog.state, keys.currentRosters.inForce),
      stands: (checkpoint) => checkpointStands(keys, federationLog.state, checkpoint),
      identityKeysOf: (checkpoint) => identityKeysOf(keys, checkpoint),
    });
    const consensus = await ConsensusSource.open(config, store, queryLimits(config));
    return new LogFollower(options, checkpointStore, consensus);
  }

  start(): void {
    this.#judgeOwnTree();
    this.#judgeRelease();
    this.#reading.start();
    this.#exchange.start();
  }

  /** Signs checkpoints from now on: this node knows how far its own chain goes. */
  startSigning(): void {
    this.#checkpoints.start();
  }

  /** A message of this node is awaited: the topic is read soon. */
  readSoon(): void {
    this.#reading.poke();
  }

  /**
   * Where a message of this node landed, by the word of a consensus node: a second source for all that came before it.
   */
  noteReceipt(point: TopicPoint): void {
    this.#reading.noteReceipt(point);
  }

  /** This node was removed, and has sealed what it recorded: its last checkpoint may say so. */
  noteSealed(): void {
    this.#checkpoints.noteGrowth();
    this.#judgeRelease();
  }

  /** More is vouched for. */
  noteVouched(): void {
    this.#checkpoints.noteGrowth();
  }

  /** Another key signs from now on: its next checkpoint covers all that came before. */
  noteKey(): void {
    this.#checkpoints.noteGrowth();
  }

  /** Asks all members for their clocks again: this node's own was not to be believed. */
  askClocks(): void {
    this.#exchange.askAll();
  }

  /** A member says how far its own sources agree on the topic. */
  noteTold(from: NodeId, point: TopicPoint): void {
    this.#exchange.noteTold(from, point);
  }

  /** Takes a checkpoint. Throws `PeerStatementError` where it does not hold. */
  async learnCheckpoint(signed: SignedCheckpoint): Promise<void> {
    await this.#checkpoints.learn(signed);
  }

  /** Resolves once the log has read what was the topic's end at the call. Rejects when the signal ends. */
  readToEnd(signal: AbortSignal): Promise<void> {
    return this.#reading.readToEnd(signal);
  }

  /** How the reading of the topic stands. */
  readingState(): TopicReadingState {
    return this.#reading.state();
  }

  /**
   * The roster that is in force by the ledger and whose text nobody has brought: the log waits for it. Null for none.
   */
  get needsRoster(): Sha256Hash | null {
    return this.#needsRoster;
  }

  /**
   * The members that contradict this node's own tree, where they are a majority: it was fooled, and signs nothing more.
   */
  get contradictedBy(): readonly NodeId[] {
    return this.#contradictedBy;
  }

  /**
   * Where this node stands that is no member any more, by its own log; null for a member. Released once, it stays so.
   */
  get removal(): Removal | null {
    const { self, keys, sealed } = this.#options;
    const removedAt = this.#removedAt();
    if (removedAt === null) return null;
    const decided = knownNode(this.federationLog.state, self)?.last?.batch ?? 0;
    const { current: roster } = keys.currentRosters.inForce;
    const { batch, unsealed } = sealed();
    const release = {
      self,
      removedAt,
      checkpointStore: this.checkpointStore,
      roster,
      sealed: batch,
      decided,
      unsealed,
    };
    return { index: removedAt, isReleased: this.#isReleased || isReleased(release) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    await this.#reading[Symbol.asyncDispose]();
    await this.#exchange[Symbol.asyncDispose]();
    await this.#checkpoints[Symbol.asyncDispose]();
    await this.#consensus[Symbol.asyncDispose]();
  }

  /**
   * Takes final messages. Rejects where a roster's text is lacking, or the store fails: the same messages come again
   * after a pause, of which the log has taken some by then, and has still to tell what it came to.
   */
  async #take(messages: readonly TopicMessage[]): Promise<void> {
    const { findRoster, besides } = this.#options;
    await this.#tell();
    await takeFinal(this.federationLog, messages, {
      besides: besides?.(messages, this.federationLog.state) ?? [],
      textOf: findRoster,
      onAdvance: (advance) => {
        this.#untold.push(advance);
        return this.#tell();
      },
    });
  }

  #judgeOwnTree(): void {
    const { self, keys, onContradicted, log } = this.#options;
    if (this.#contradictedBy.length > 0) return;
    const by = contradictingMajority({
      self,
      checkpointStore: this.checkpointStore,
      roster: keys.rosters.current,
      stands: ({ checkpoint }) => checkpointStands(keys, this.federationLog.state, checkpoint),
    });
    if (by.length === 0) return;
    this.#contradictedBy = by;
    log.fatal({ by }, 'most members have another log than this node: stop it and start it once with --reread-ledger');
    onContradicted?.(by);
  }

  /** A removed member learns that it is done. */
  #judgeRelease(): void {
    const { log, onReleased } = this.#options;
    const removal = this.removal;
    if (this.#isReleased || removal?.isReleased !== true) return;
    this.#isReleased = true;
    log.warn(
      { removedAt: removal.index },
      'this node was removed, and all that it recorded is decided and vouched for: it may be stopped',
    );
    onReleased?.();
  }

  #removedAt(): number | null {
    const { self, keys } = this.#options;
    // One that it was given after those in force may name it again.
    if (keys.isMember(self)) return null;
    return removalOf(logRosters(this.federationLog.state, keys.currentRosters.inForce), self);
  }

  /** Each is told once: what the store may refuse comes before that, or is done again. */
  async #tell(): Promise<void> {
    const { keys } = this.#options;
    for (let [advance] = this.#untold; advance !== undefined; [advance] = this.#untold) {
      // First of all: what else was decided is judged by the rosters in force.
      if (advance.decided.length > 0) await keys.currentRosters.follow();
      this.#untold.shift();
      this.#noteAdvance(advance);
    }
    if (!this.#reconsiders) return;
    await this.#checkpoints.reconsider();
    this.#judgeRelease();
    this.#reconsiders = false;
    this.#checkpoints.noteGrowth();
  }

  #noteAdvance({ decided, rivals, undecided, needs }: Advance): void {
    const { onDecided, onRivals, onUndecided } = this.#options;
    if (undecided.length > 0) onUndecided?.(undecided);
    if (decided.length > 0) {
      onDecided?.(decided);
      this.#reconsiders = true;
    }
    if (rivals.length > 0) onRivals?.(rivals);
    this.#needsRoster = needs;
  }
}

/** What the operator allows an hour holds of the day as well. */
function queryLimits({ queriesPerHour }: AnchoringConfig): Partial<SpendLimits> {
  if (queriesPerHour === undefined) return {};
  const perDay = queriesPerHour * HOURS_A_DAY;
  return {
    transactionsPerHour: queriesPerHour,
    transactionsPerDay: perDay,
    tinybarsPerDay: perDay * DEFAULT_QUERY_LIMITS.feeTinybars,
  };
}
