import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import { MISDATED_MS } from '../../protocol/verdict/check-decision.ts';
import { PROMISE_MS } from '../../node/verification/attestation/attestation-answer.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { CheckpointStore } from '../../node/log/checkpoint-store.ts';
import { FederationLog } from '../../node/log/federation-log.ts';
import { mirrorSource } from '../../node/anchoring/topic/message-source.ts';
import { type Alert, Alerts, type NoticeCode } from './alerts.ts';
import { ChainWatch } from './chain-watch.ts';
import { CheckpointWatch } from './checkpoint-watch.ts';
import { type Patience, seeChains, seeRevocations, seeRivals, type Watched } from './conditions.ts';
import { type DecidedBatch, KeptLog } from './kept-log.ts';
import { learnStatements } from './learn-statements.ts';
import { LogWatch } from './log-watch.ts';
import type { MonitorOptions, PollResult } from './monitor-options.ts';
import { type MonitorState, MonitorStore } from './monitor-store.ts';
import { NameWatch } from './name-watch.ts';
import { ProofWatch } from './proof-watch.ts';
import { StatementWatch } from './statement-watch.ts';
import { TileWatch } from './tile-watch.ts';
import { WatchedNodes } from './watched-nodes.ts';

/** In milliseconds. */
const PATIENCE: Patience = { anchorMs: PROMISE_MS, quorumMs: 60_000, bodyMs: 60_000, checkpointMs: 60_000 };
const FAILING_POLLS = 3;

/** What is open as long as the monitor is. */
interface Opened {
  readonly store: MonitorStore;
  readonly state: MonitorState;
  readonly log: FederationLog;
  readonly checkpointStore: CheckpointStore;
  readonly statements: StatementWatch;
  readonly kept: KeptLog;
}

/** How far a chain is, by the ledger and by checkpoints. */
export interface WatchedHead {
  readonly node: NodeId;
  /** Last batch that the log decided. */
  readonly batch: number;
  /** Decided batches that too few members vouch for, and batches that nodes show and the log has not decided. */
  readonly open: number;
}

/**
 * A watcher that is no member and holds no key: builds the federation's log from the ledger by itself, compares what
 * every node shows to anyone with it, up to the genesis roster, says what is late, missing or false, and writes a proof
 * of every misbehaviour that is signed.
 *
 * Ownership: everything is moved by the one round that is under way. Crash order: the log is on the disk page by page,
 * a proof as it is found, all else at the end of a round; a crash between looks at the round's part again.
 */
export class Monitor implements AsyncDisposable {
  readonly #options: MonitorOptions;
  readonly #patience: Patience;
  readonly #ending = new AbortController();
  readonly #opened: Opened;
  readonly #alerts: Alerts;
  readonly #nodes: WatchedNodes;
  readonly #names: NameWatch;
  readonly #log: LogWatch;
  readonly #chains: ChainWatch;
  readonly #checkpoints: CheckpointWatch;
  readonly #tiles: TileWatch;
  readonly #proofs: ProofWatch;
  #lastPollAt = 0;
  #running: Promise<PollResult> | undefined;
  /** Seconds from sealing to consensus of the batches that nodes show. */
  onAnchored: (seconds: number) => void = () => undefined;

  private constructor(options: MonitorOptions, opened: Opened) {
    const { now, random = Math.random, failingPolls = FAILING_POLLS } = options;
    const { state, log } = opened;
    this.#options = options;
    this.#opened = opened;
    this.#patience = { ...PATIENCE, ...options.patience };
    const { signal } = this.#ending;
    const alerts = new Alerts(state.alerts);
    this.#alerts = alerts;
    const nodes = new WatchedNodes({ urls: options.nodes ?? null, alerts, now, signal, patience: failingPolls });
    this.#nodes = nodes;
    this.#names = new NameWatch(state.undecided);
    const parts = { ...opened, alerts, nodes, now, random, signal };
    this.#log = new LogWatch({
      ...parts,
      names: this.#names,
      sources: [...new Set(options.mirrors)].map((url) => mirrorSource(url, [url], log.state.ledger.topicId)),
      consensusTimestamp: state.consensusTimestamp,
      onNotice: (code, subject, detail) => this.#notice(code, subject, detail),
    });
    this.#checkpoints = new CheckpointWatch(parts, state);
    this.#chains = new ChainWatch(
      {
        ...parts,
        state: () => log.state,
        onShown: (envelope, decided) => this.#noteDelay(envelope, decided),
        onRival: (rival) => this.#proofs.noteRival(rival),
      },
      state.shown,
    );
    this.#tiles = new TileWatch({ ...parts, checkpoints: this.#checkpoints });
    this.#proofs = new ProofWatch({
      ...parts,
      directory: options.proofDirectory,
      known: state.proofs,
      onProof: (proof) => options.onEvent({ kind: 'proof', ...proof }),
    });
  }

  /** Goes on where the store ends. Throws `RosterError`, `StoreError`, `LogDamagedError`. */
  static async open(options: MonitorOptions): Promise<Monitor> {
    const { signedGenesis, texts } = RosterChain.open(nativeSuite, options.rosters);
    const store = await MonitorStore.open(options.stateDirectory);
    try {
      const { rows } = store;
      const state = await store.state();
      const log = await FederationLog.open(rows, signedGenesis.statement);
      for (const text of texts) await log.keepRoster(text);
      const statements = await StatementWatch.open(log);
      const checkpointStore = await CheckpointStore.open(rows, log, statements);
      const kept = new KeptLog({ rows, log, trimmed: state.trimmed });
      await kept.trim();
      return new Monitor(options, { store, state, log, checkpointStore, statements, kept });
    } catch (error) {
      await store[Symbol.asyncDispose]();
      throw error;
    }
  }

  get alerts(): readonly Alert[] {
    return this.#alerts.all();
  }

  /** Conditions over the bound, which are not among the alerts. */
  get alertsDropped(): number {
    return this.#alerts.dropped;
  }

  /** Names of all proofs, those of earlier runs too. */
  get proofs(): readonly string[] {
    return this.#proofs.names;
  }

  /** Epoch milliseconds; 0 before the first. */
  get lastPollAt(): number {
    return this.#lastPollAt;
  }

  /** Last message of the topic that was read. */
  get topicSequence(): number {
    return this.#opened.log.state.sequence;
  }

  /** Decisions in the log, and its root. */
  get tree(): Pick<FederationLog, 'size' | 'root'> {
    const { size, root } = this.#opened.log;
    return { size, root };
  }

  get heads(): readonly WatchedHead[] {
    return this.#chains.nodes.map((node) => {
      const batch = this.#chains.decided(node);
      const waiting = Math.max(0, batch - this.#checkpoints.confirmed(node));
      return { node, batch, open: waiting + this.#chains.open(node).length };
    });
  }

  /** Of each member of the roster in force, decisions that its newest checkpoint does not cover. */
  get behind(): readonly { readonly node: NodeId; readonly decisions: number }[] {
    const { statements, log } = this.#opened;
    return statements.roster.members.map(({ node }) => {
      return { node, decisions: log.size - (this.#checkpoints.counted(node)?.checkpoint.size ?? 0) };
    });
  }

  /** Reads and checks what is new, tells of it, and keeps the state. Rejects only where the disk does. */
  poll(): Promise<PollResult> {
    this.#running = this.#poll();
    return this.#running;
  }

  /** Ends what is being asked, and closes the store once the round under way is over. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#running?.catch(() => undefined);
    await this.#opened.store[Symbol.asyncDispose]();
  }

  /** Ends what is being asked. The round under way still ends by itself, soon. */
  stop(): void {
    this.#ending.abort();
  }

  async #poll(): Promise<PollResult> {
    const { statements, kept, store } = this.#opened;
    const before = this.#proofs.names.length;
    await this.#nodes.begin(statements.roster.members);
    // A long ledger waits for the chains: what is on it must be kept until its batch was shown.
    if (this.#chains.isBusy) this.#log.rest();
    else await this.#log.read();
    await learnStatements(statements, this.#nodes);
    await this.#checkpoints.read();
    await this.#chains.read();
    await this.#tiles.look();
    await this.#proofs.look();
    await kept.trim();
    const complete = await this.#conclude();
    await store.keep(this.#state());
    this.#lastPollAt = this.#options.now();
    return { complete, alerts: this.alerts, newProofs: this.#proofs.names.length - before };
  }

  /** Tells what holds now and what does not any more. Whether there is nothing more to read at present. */
  async #conclude(): Promise<boolean> {
    // What could not be asked any more says nothing of those who were to answer.
    if (this.#ending.signal.aborted) return false;
    await this.#seeAll();
    const { raised, cleared } = this.#alerts.settle();
    for (const { code, subject, detail } of raised) this.#options.onEvent({ kind: 'alert', code, subject, detail });
    for (const { code, subject, detail } of cleared) this.#options.onEvent({ kind: 'cleared', code, subject, detail });
    const isBehind = this.#chains.nodes.some((node) => this.#chains.isReadable(node));
    return this.#log.isWhole && !this.#nodes.paced && !isBehind;
  }

  async #seeAll(): Promise<void> {
    const now = this.#options.now();
    const watched: Watched = {
      ...this.#opened,
      chains: this.#chains,
      checkpoints: this.#checkpoints,
      nodes: this.#nodes,
      alerts: this.#alerts,
      now,
      patience: this.#patience,
      atEnd: this.#log.atEnd,
    };
    this.#nodes.end();
    await this.#log.see();
    this.#names.see(this.#alerts, now, this.#patience.anchorMs);
    await this.#checkpoints.see(this.#patience.checkpointMs);
    await seeChains(watched);
    await seeRevocations(watched);
    await seeRivals({ ...watched, rows: this.#opened.store.rows });
  }

  #noteDelay({ node, batch, sealedAt }: Envelope, { decision }: DecidedBatch): void {
    const consensus = timestampOfConsensus(decision.consensusTimestamp);
    const delay = Date.parse(consensus) - Date.parse(sealedAt);
    const subject = `${node}/${batch}`;
    if (delay > this.#patience.anchorMs) {
      this.#notice('anchor-late', subject, `on the ledger ${delay / 1000} s after it was sealed`);
    }
    if (-delay > MISDATED_MS) {
      this.#notice('misdated', subject, `says ${sealedAt} and was on the ledger at ${consensus}`);
    }
    this.onAnchored(delay / 1000);
  }

  #notice(code: NoticeCode, subject: string, detail: string): void {
    this.#options.onEvent({ kind: 'notice', code, subject, detail });
  }

  #state(): MonitorState {
    return {
      v: 4,
      consensusTimestamp: this.#log.consensusTimestamp,
      shown: this.#chains.state(),
      trimmed: this.#opened.kept.from,
      undecided: [...this.#names.undecided],
      ...this.#checkpoints.state(),
      alerts: [...this.alerts],
      proofs: [...this.#proofs.names],
    };
  }
}
