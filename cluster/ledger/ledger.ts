import { proto } from '@hiero-ledger/proto';
import { AutoResetEvent } from '../../node/concurrency/auto-reset-event.ts';
import { AcceptedTransactions } from './accepted-transactions.ts';
import { blockOf } from './blocks.ts';
import { loadState, rememberRecent } from './boot.ts';
import type { OpeningAccount } from './boot.ts';
import { systemClock } from './consensus-time.ts';
import type { Clock, Nanos } from './consensus-time.ts';
import { entitiesHash } from './entities-hash.ts';
import { execute } from './execute.ts';
import { FaultBox } from './faults.ts';
import { DEFAULT_FEES } from './fees.ts';
import type { FeeSchedule } from './fees.ts';
import { Draft } from './ledger-state.ts';
import type { LedgerState } from './ledger-state.ts';
import { LedgerStore } from './ledger-store.ts';
import { readTransaction, requireCompleteOperation, requirePaying, requireWellFormed } from './precheck.ts';
import { Refused } from './refused.ts';
import type { SignedTransaction } from './transaction.ts';
import { Throttle } from './throttle.ts';

export interface LedgerOptions {
  /** Directory of the store; made if it is not there. */
  readonly directory: string;
  /** Account numbers of the nodes. */
  readonly nodes: readonly bigint[];
  readonly accounts: readonly OpeningAccount[];
  readonly fees?: FeeSchedule;
  /** Milliseconds for which a round waits for more transactions after the first. */
  readonly roundMs?: number;
  /** Transactions a second, over all nodes, above which nodes answer BUSY. */
  readonly throttlePerSecond?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface LedgerStats {
  accepted: number;
  refused: number;
  rounds: number;
  /** Milliseconds spent in synced writes. */
  syncMs: number;
}

const DEFAULT_ROUND_MS = 25;
const DEFAULT_THROTTLE_PER_SECOND = 10_000;

/** How often the consensus clock moves when there is no traffic. */
const IDLE_TICK_MS = 500;
const MAX_ROUND_TRANSACTIONS = 1_000;
const MAX_WAITING_TRANSACTIONS = 10_000;
/** Consensus times are at least this far apart. */
const CONSENSUS_STEP: Nanos = 1_000n;

const Code = proto.ResponseCodeEnum;

/**
 * A single-machine stand-in for the consensus of a Hedera network. Transactions that pass the precheck wait for the
 * next round; a round orders them, carries them out on a draft of the state, writes everything in one synced batch, and
 * only then publishes. A crash before the sync leaves no trace of the round, as if the network had lost its
 * transactions; a crash after it leaves all of it. A failed write ends the ledger: see `finished`.
 */
export class Ledger {
  readonly faults: FaultBox;
  readonly fees: FeeSchedule;
  readonly state: LedgerState;
  readonly store: LedgerStore;
  readonly accepted: AcceptedTransactions;
  readonly stats: LedgerStats = { accepted: 0, refused: 0, rounds: 0, syncMs: 0 };
  readonly now: Clock;
  readonly #roundMs: number;
  readonly #throttle: Throttle;
  readonly #listeners = new Set<() => void>();
  /** Of the pause under way: what comes during a round does not shorten the pause after it. */
  #wake = new AutoResetEvent();
  #consensusClock: Nanos;
  #stopping = false;
  #finished: Promise<void> = Promise.resolve();

  private constructor(options: LedgerOptions, store: LedgerStore, state: LedgerState, accepted: AcceptedTransactions) {
    this.store = store;
    this.state = state;
    this.accepted = accepted;
    this.faults = new FaultBox(options.random);
    this.fees = options.fees ?? DEFAULT_FEES;
    this.now = options.clock ?? systemClock;
    this.#roundMs = options.roundMs ?? DEFAULT_ROUND_MS;
    this.#throttle = new Throttle(options.throttlePerSecond ?? DEFAULT_THROTTLE_PER_SECOND, this.now);
    this.#consensusClock = state.head.lastConsensus;
  }

  /** Opens the store, checks it, and starts the rounds. Throws if the store has been changed or is in use. */
  static async open(options: LedgerOptions): Promise<Ledger> {
    const now = (options.clock ?? systemClock)();
    const store = await LedgerStore.open(options.directory);
    try {
      const state = await loadState(store, options.accounts, options.nodes, now);
      const accepted = new AcceptedTransactions();
      await rememberRecent(accepted, store, now);
      const ledger = new Ledger(options, store, state, accepted);
      ledger.#finished = ledger.#run();
      // Anyone who wants to know of a failed write awaits `finished`; nobody has to.
      ledger.#finished.catch(() => {});
      return ledger;
    } catch (error) {
      await store[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Everything up to this time has been published; everything still to come will be later. */
  get consensusClock(): Nanos {
    return this.#consensusClock;
  }

  /** Settles when the rounds have ended: rejected if a round could not be written. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  /** Calls the listener whenever the consensus clock has moved, until the returned function is called. */
  onClock(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Takes a transaction as a node does.
   *
   * @param node account number of the node that was asked
   * @returns whether the node answers at all (it does not under the fault `hangAfterAccept`)
   * @throws Refused with the precheck code
   */
  submit(bytes: Uint8Array, node: bigint): { answers: boolean } {
    try {
      const transaction = this.#precheck(bytes, node);
      if (!this.faults.strikes('lostBeforeConsensus')) this.accepted.add(transaction);
      this.stats.accepted += 1;
    } catch (error) {
      this.stats.refused += 1;
      throw error;
    }
    this.#wake.notify();
    return { answers: !this.faults.strikes('hangAfterAccept') };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    this.#wake.notify();
    await this.#finished.catch(() => {});
    await this.store[Symbol.asyncDispose]();
  }

  #precheck(bytes: Uint8Array, node: bigint): SignedTransaction {
    if (this.#stopping) throw new Refused(Code.PLATFORM_NOT_ACTIVE);
    if (this.faults.strikes('busy') || !this.#throttle.take()) throw new Refused(Code.BUSY);
    if (this.accepted.waiting >= MAX_WAITING_TRANSACTIONS) throw new Refused(Code.BUSY);
    if (this.faults.strikes('notCreated')) throw new Refused(Code.PLATFORM_TRANSACTION_NOT_CREATED);
    const transaction = readTransaction(bytes);
    requireWellFormed(transaction, node, this.now());
    if (this.accepted.knows(transaction.id)) throw new Refused(Code.DUPLICATE_TRANSACTION);
    requireCompleteOperation(transaction);
    requirePaying(transaction, this.state, this.fees);
    return transaction;
  }

  /** One round at a time; between rounds the clock moves by itself. The last round takes what is still waiting. */
  async #run(): Promise<void> {
    try {
      while (!this.#stopping) {
        const idle = this.accepted.waiting === 0 || this.faults.now.roundPaused;
        this.#wake = new AutoResetEvent();
        await this.#wake.wait(idle ? IDLE_TICK_MS : this.#roundMs);
        if (this.faults.now.roundPaused) continue;
        if (!idle) await this.#round();
        else if (this.accepted.waiting === 0) this.#moveClock(this.now());
      }
      while (this.accepted.waiting > 0 && !this.faults.now.roundPaused) await this.#round();
    } finally {
      this.#stopping = true;
    }
  }

  async #round(): Promise<void> {
    const draft = new Draft(this.state);
    for (const transaction of this.accepted.take(MAX_ROUND_TRANSACTIONS)) {
      execute(draft, transaction, this.#nextConsensusTime(draft), this.fees);
    }
    const block = blockOf(this.state.head, draft.transactions);
    draft.head.blocks += 1;
    draft.head.blockHash = block.hash;
    draft.head.entitiesHash = entitiesHash(this.state, draft);
    const before = performance.now();
    await this.store.write(draft, block);
    this.stats.syncMs += performance.now() - before;
    this.stats.rounds += 1;
    this.state.publish(draft);
    for (const { id, at } of draft.transactions) this.accepted.settle(id, at);
    this.accepted.prune(this.now());
    this.#moveClock(block.to);
  }

  #nextConsensusTime(draft: Draft): Nanos {
    const latest = draft.head.lastConsensus > this.#consensusClock ? draft.head.lastConsensus : this.#consensusClock;
    const now = this.now();
    return now > latest + CONSENSUS_STEP ? now : latest + CONSENSUS_STEP;
  }

  #moveClock(to: Nanos): void {
    if (to > this.#consensusClock) this.#consensusClock = to;
    for (const listener of this.#listeners) listener();
  }
}
