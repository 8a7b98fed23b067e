import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { timestampOf } from '../../protocol/time.ts';
import { AutoResetEvent } from '../concurrency/auto-reset-event.ts';
import { backoffDelay } from '../concurrency/backoff.ts';
import type { Store } from '../store/store.ts';
import { AnchorSubmission, type Freezing, type Naming, subjectOf, type SubmissionPort } from './anchor-submission.ts';
import type { LedgerClient } from './ledger/ledger-client.ts';
import type { MirrorClient } from './ledger/mirror-client.ts';
import type { Admission, SpendGuard, SpendState } from './ledger/spend-guard.ts';
import { leastNamedFirst, type NamedForOther } from './others-limits.ts';
import {
  type BatchRow,
  freeze,
  isBatchRow,
  isRescueRow,
  openStatements,
  type OutboxRow,
  readNewestOpenRow,
  readOpenRescues,
  readOpenRows,
  readOutbox,
  type RescueRow,
  rowOperation,
} from './outbox.ts';

export interface AnchorerOptions {
  readonly node: NodeId;
  readonly store: Store;
  readonly ledger: LedgerClient;
  readonly mirror: MirrorClient;
  readonly guard: SpendGuard;
  /** Of what is named for other nodes: their batches, and revocations of their keys. */
  readonly othersGuards: Readonly<Record<NamedForOther, SpendGuard>>;
  readonly naming: Naming;
  readonly now: () => number;
  /** In [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
  /** A receipt shows that an own batch is named on the topic. Must not throw, like the next one. */
  readonly onNamed?: (batch: number) => void;
  /** The name of a statement is on the topic, or needed no more. */
  readonly onStatementNamed?: () => void;
}

/** Batches carried at once. More would only queue up at the ledger. */
const MAX_IN_FLIGHT = 8;
/**
 * Own statements carried at once, beside the batches: a revocation must not wait until a backlog is worked off. As many
 * revocations of other nodes beside them: their spend guard may hold these back for a day.
 */
const MAX_STATEMENTS_IN_FLIGHT = 2;
/** Batches of other nodes carried at once. */
const MAX_RESCUES_IN_FLIGHT = 4;
/** The outbox is looked at so often even when nobody calls. In milliseconds. */
const LOOK_MS = 30_000;
/** A held-back batch asks again at least so often: the clock may have been set. In milliseconds. */
const MAX_HOLD_MS = 60_000;

/**
 * Names the node's sealed batches, its statements and what it rescues on the ledger. A batch departs once another
 * member holds it, and a receipt, or the log, shows the one before: a name that came before that of the batch before it
 * would decide nothing. Nothing is ever dropped: a dead ledger, at boot or later, only makes the outbox longer.
 *
 * Ownership: the outbox rows belong to their trips from when the loop takes them until they end, or `withdraw`;
 * `#taken` is moved by the loop alone, and by `withdraw`. What the loop has read may be out of date by then: no row
 * departs that was withdrawn, or whose trip ended, since the reading began.
 */
export class Anchorer implements AsyncDisposable {
  readonly #options: AnchorerOptions;
  readonly #ending = new AbortController();
  readonly #wake = new AutoResetEvent();
  readonly #submissions = new Map<AnchorSubmission, RunningSubmission>();
  /** Freezing is one at a time and in order, so that the spend record on the disk never falls behind. */
  #freezing: Promise<unknown> = Promise.resolve();
  #taken = 0;
  /** Own batches from this one on are not taken. */
  #withdrawnFrom = Number.POSITIVE_INFINITY;
  #withdrawals = 0;
  readonly #takenRescues = new Set<string>();
  /** Hashes of those that are carried. */
  readonly #takenStatements = new Set<string>();
  readonly #takenForOthers = new Set<string>();
  /** Names of rescues and statements whose trips have ended since the loop began to read the outbox. */
  readonly #ended = new Set<string>();
  #carriesBatches = false;
  #loop: Promise<void> | undefined;
  #held = false;
  #contact: LedgerContact = { reachable: null, lastAnswerAt: null, refusal: null };

  constructor(options: AnchorerOptions) {
    this.#options = options;
  }

  /** Carries batches and statements from now on. */
  start(): void {
    this.#carriesBatches = true;
    this.#wake.notify();
    this.startStatements();
  }

  /** Carries statements from now on. */
  startStatements(): void {
    this.#loop ??= this.#run();
  }

  /** A batch was sealed, or a statement kept: its outbox row is on the disk. */
  noteSealed(): void {
    this.#wake.notify();
  }

  /** Another member holds more of the own chain, or what is in force has changed: what waits may depart. */
  noteChange(): void {
    for (const submission of this.#submissions.keys()) if (!submission.isSent) submission.wake.notify();
    this.#wake.notify();
  }

  /** Texts of messages that decided something. */
  noteDecided(messages: readonly string[]): void {
    const texts = new Set(messages);
    for (const submission of this.#submissions.keys()) if (texts.has(submission.message)) submission.wake.notify();
  }

  /** Messages that this node paid for, final on the topic, which decided nothing. */
  noteUndecided(messages: readonly string[]): void {
    const texts = new Set(messages);
    for (const submission of this.#submissions.keys()) if (texts.has(submission.message)) submission.noteUndecided();
  }

  /** Lets go of the rows of own batches from a number on: they are replaced. Nothing of them is sent until `resume`. */
  async withdraw(from: number): Promise<void> {
    this.#withdrawnFrom = from;
    this.#withdrawals++;
    const ended = [...this.#submissions].filter(([{ batch }]) => batch !== null && batch >= from);
    for (const [, { ending }] of ended) ending.abort();
    await Promise.all(ended.map(([, { run }]) => run));
    this.#taken = Math.min(this.#taken, from - 1);
  }

  /** Takes the rows again. */
  resume(): void {
    this.#withdrawnFrom = Number.POSITIVE_INFINITY;
    this.#wake.notify();
  }

  /** Undefined for a batch that was never sealed here. */
  async status(batch: number): Promise<BatchStatus | undefined> {
    const row = await readOutbox(this.#options.store, batch);
    if (row === undefined) return undefined;
    const { status, attempts, history } = row;
    return { batch, status, attempts, history, delayed: status === 'queued' && this.#held };
  }

  async state(): Promise<AnchoringState> {
    const { store, guard, now } = this.#options;
    const [oldest] = await readOpenRows(store, 0, 1);
    const newest = await readNewestOpenRow(store);
    const since = oldest?.history[0]?.at;
    return {
      ledger: this.#contact,
      spend: guard.state(now()),
      inFlight: this.#submissions.size,
      backlog: oldest === undefined || newest === undefined ? 0 : newest.batch - oldest.batch + 1,
      lagSeconds: since === undefined ? 0 : Math.max(0, (now() - Date.parse(since)) / 1000),
      delayed: this.#held,
    };
  }

  /** Ends every trip where it stands. Each goes on from the disk at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#loop;
    await Promise.all([...this.#submissions.values()].map(({ run }) => run));
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#takeRows();
      } catch (error) {
        this.#options.log.error({ err: error }, 'the outbox could not be read; trying again');
      }
      await this.#wake.wait(LOOK_MS, signal);
    }
  }

  async #takeRows(): Promise<void> {
    await this.#takeStatements();
    if (!this.#carriesBatches) return;
    await this.#takeRescues();
    const batches = [...this.#submissions.keys()].filter(({ batch }) => batch !== null);
    if (batches.length >= MAX_IN_FLIGHT || batches.some((submission) => !submission.isNamed)) return;
    const withdrawals = this.#withdrawals;
    const [row] = await readOpenRows(this.#options.store, this.#taken, 1);
    // It may have been withdrawn while it was read, and replaced by now.
    if (row === undefined || this.#withdrawals > withdrawals || row.batch >= this.#withdrawnFrom) return;
    this.#taken = row.batch;
    this.#depart(row);
  }

  /** Those of nodes that least was named for come first: nobody's batches keep those of another waiting. */
  async #takeRescues(): Promise<void> {
    this.#ended.clear();
    const { store, now } = this.#options;
    const rows = await readOpenRescues(store);
    const nodes = await leastNamedFirst(
      store,
      'rescue',
      rows.map(({ rescued }) => rescued),
      now(),
    );
    for (const row of nodes.flatMap((node) => rows.filter(({ rescued }) => rescued === node))) {
      if (this.#takenRescues.size >= MAX_RESCUES_IN_FLIGHT) return;
      this.#departOnce(row, rescueKey(row), this.#takenRescues);
    }
  }

  async #takeStatements(): Promise<void> {
    this.#ended.clear();
    const [own, others] = [this.#takenStatements, this.#takenForOthers];
    for await (const row of openStatements(this.#options.store)) {
      const taken = this.#isForOther(row) ? others : own;
      if (taken.size < MAX_STATEMENTS_IN_FLIGHT) this.#departOnce(row, row.statement, taken);
      if (own.size + others.size === 2 * MAX_STATEMENTS_IN_FLIGHT) return;
    }
  }

  #departOnce(row: OutboxRow, name: string, taken: Set<string>): void {
    if (taken.has(name) || this.#ended.has(name)) return;
    taken.add(name);
    this.#depart(row, () => {
      taken.delete(name);
      this.#ended.add(name);
    });
  }

  #depart(row: OutboxRow, onEnd: () => void = () => {}): void {
    const ending = new AbortController();
    const signal = AbortSignal.any([this.#ending.signal, ending.signal]);
    const submission = new AnchorSubmission(this.#port(signal), row);
    const run = this.#runUntilNamed(submission, row, signal).finally(() => {
      this.#submissions.delete(submission);
      onEnd();
      // Those after it may have waited for this one.
      this.noteChange();
    });
    this.#submissions.set(submission, { run, ending });
  }

  /**
   * A trip fails where the store does, or the key cannot sign. It knows what is on the disk, and goes on from there.
   */
  async #runUntilNamed(submission: AnchorSubmission, row: OutboxRow, signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await submission.run();
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.error({ err: error, ...subjectOf(row) }, 'anchoring stopped; going on from the disk');
        await submission.wake.wait(backoffDelay(failures, this.#options.random()), signal);
      }
    }
  }

  #port(signal: AbortSignal): SubmissionPort {
    const { store, ledger, mirror, naming, now, random, log, onStatementNamed } = this.#options;
    return {
      store,
      ledger,
      mirror,
      naming,
      now,
      random,
      log,
      signal,
      freezeNext: (row) => this.#freezeInOrder(row),
      onNamed: (row) => {
        this.noteChange();
        if (isBatchRow(row)) this.#options.onNamed?.(row.batch);
      },
      noteContact: (outcome, refusal) => this.#noteContact(outcome, refusal),
      onConfirmed: (row) => {
        if (!isBatchRow(row) && !isRescueRow(row)) onStatementNamed?.();
      },
    };
  }

  #freezeInOrder(row: OutboxRow): Promise<Freezing> {
    const freezing = this.#freezing.then(() => this.#freeze(row));
    this.#freezing = freezing.catch(() => undefined);
    return freezing;
  }

  /** Crash order: the frozen bytes and what they may cost are synced in one write, before anything is sent. */
  async #freeze(row: OutboxRow): Promise<Freezing> {
    const { store, ledger, now } = this.#options;
    if (isBatchRow(row) && !this.#mayName(row)) return { kind: 'held', milliseconds: MAX_HOLD_MS };
    const guard = this.#guardOf(row);
    const admission = guard.admit(now());
    if (guard === this.#options.guard) this.#noteHold(admission);
    if (admission.kind === 'waits') {
      return { kind: 'held', milliseconds: Math.max(0, Math.min(admission.until - now(), MAX_HOLD_MS)) };
    }
    const next = freeze(row, await ledger.prepare(row.message), timestampOf(now()));
    await store.write([rowOperation(next), admission.record]);
    guard.commit(admission);
    return { kind: 'frozen', row: next };
  }

  /** Whether a name of the batch could decide something: those before it are named, and the log would take it. */
  #mayName({ batch: number, message }: BatchRow): boolean {
    const isBefore = ({ batch }: AnchorSubmission) => batch !== null && batch < number;
    if ([...this.#submissions.keys()].some((submission) => isBefore(submission) && !submission.isNamed)) return false;
    const named = parseLedgerMessage(message);
    return named.type === 'batch' && this.#options.naming.mayName(named);
  }

  #guardOf(row: OutboxRow): SpendGuard {
    const { guard, othersGuards } = this.#options;
    if (isRescueRow(row)) return othersGuards.rescue;
    return this.#isForOther(row) ? othersGuards.revocation : guard;
  }

  /** Whether it names the revocation of another node's key. */
  #isForOther({ message }: OutboxRow): boolean {
    const named = parseLedgerMessage(message);
    return named.type === 'revocation' && named.node !== this.#options.node;
  }

  #noteHold(admission: Admission): void {
    const isHeld = admission.kind === 'waits';
    if (isHeld && !this.#held) {
      const { limit, until } = admission;
      this.#options.log.warn({ limit, until: timestampOf(until) }, 'the spend guard holds anchors back');
    }
    this.#held = isHeld;
  }

  #noteContact(outcome: 'answered' | 'silent', refusal: string | null): void {
    const { now, log } = this.#options;
    const reachable = outcome === 'answered';
    if (reachable !== this.#contact.reachable) log.info({ reachable }, 'ledger contact changed');
    this.#contact = reachable ? { reachable, lastAnswerAt: now(), refusal } : { ...this.#contact, reachable };
  }
}

interface RunningSubmission {
  readonly run: Promise<void>;
  readonly ending: AbortController;
}

function rescueKey({ rescued, number }: RescueRow): string {
  return `${rescued}/${number}`;
}

/** How the ledger's consensus nodes answer, as far as anchoring has tried since the start. */
interface LedgerContact {
  /** Null until the first answer or failure. */
  readonly reachable: boolean | null;
  /** Epoch milliseconds of the last time that a node took a transaction or refused it. */
  readonly lastAnswerAt: number | null;
  /** Status code of the last permanent refusal, until a transaction is taken; null otherwise. */
  readonly refusal: string | null;
}

/** What a health page, a metric or the operator wants to know of anchoring. */
export interface AnchoringState {
  readonly ledger: LedgerContact;
  readonly spend: SpendState;
  /** Batches that are being carried to the ledger now. */
  readonly inFlight: number;
  /** Unconfirmed batches, counted as a range of batch numbers: at most so many. */
  readonly backlog: number;
  /** Seconds since the oldest unconfirmed batch was sealed; 0 where all are confirmed. */
  readonly lagSeconds: number;
  /** The spend guard holds batches back. */
  readonly delayed: boolean;
}

/** Where one sealed batch stands. `delayed` is true while the spend guard holds it back. */
export interface BatchStatus extends Pick<BatchRow, 'batch' | 'status' | 'attempts' | 'history'> {
  readonly delayed: boolean;
}
