import type { Logger } from 'pino';
import type { BatchMessage } from '../../protocol/log/message.ts';
import { timestampOf } from '../../protocol/time.ts';
import { AutoResetEvent } from '../concurrency/auto-reset-event.ts';
import { backoffDelay } from '../concurrency/backoff.ts';
import type { Store } from '../store/store.ts';
import { type LedgerClient, LedgerError, type PreparedTransaction } from './ledger/ledger-client.ts';
import type { MirrorClient } from './ledger/mirror-client.ts';
import type { TopicPoint } from './ledger/topic-point.ts';
import {
  closeOperations,
  isBatchRow,
  isRescueRow,
  noteSubmitted,
  type OutboxRow,
  requeue,
  rowOperation,
} from './outbox.ts';

/** `frozen`: the row as it is on the disk now. `held`: to be asked again after the pause. */
export type Freezing =
  | { readonly kind: 'frozen'; readonly row: OutboxRow }
  | { readonly kind: 'held'; readonly milliseconds: number };

/** What a trip needs from its anchorer. */
export interface SubmissionPort {
  readonly store: Store;
  readonly ledger: LedgerClient;
  readonly mirror: MirrorClient;
  readonly naming: Omit<Naming, 'mayName'>;
  readonly now: () => number;
  /** A clock that no step moves, in milliseconds. Default: that of the process. */
  readonly monotonic?: () => number;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Freezes a transaction for the row, if the spend guard lets it. */
  readonly freezeNext: (row: OutboxRow) => Promise<Freezing>;
  /** A receipt shows that the message is on the ledger. */
  readonly onNamed: (row: OutboxRow) => void;
  readonly noteContact: (outcome: 'answered' | 'silent', refusal: string | null) => void;
  readonly onConfirmed: (row: OutboxRow) => void;
}

/** Nodes refuse a transaction in the last seconds of its validity; sending it then is of no use. In seconds. */
const SEND_MARGIN_SECONDS = 10;
/**
 * Before the end of its validity by more than this no node takes a transaction: it was frozen while this node's clock was
 * ahead. The ledger's own bound is 180 seconds; clocks may differ by the rest. In seconds.
 */
const MOST_VALID_SECONDS = 300;
/** Pause between two questions for a receipt. It is there within seconds of the transaction. In milliseconds. */
const RECEIPT_MS = 250;
/** How often the log is looked at while a message that a receipt showed is awaited, in milliseconds. */
const LOOK_MS = 1_000;
/** Pause of a batch in whose place another was decided: nothing is sent for it. In milliseconds. */
const OUTDONE_MS = 60_000;
/**
 * An accepted transaction that has not shown on the topic is sent again: the node may have lost it. In milliseconds.
 */
const RESEND_MS = 4_000;

/**
 * Carries one name from its outbox row to the ledger, and never gives up before it is confirmed or the signal ends.
 *
 * Never twice in flight: at any time at most one transaction of the row can still reach the ledger. Its signed bytes
 * are on the disk before they are sent, are sent as often as needed, and are let go only when a mirror whose clock is
 * past their validity does not have them, or when the final reading of the topic showed their message. A failure at
 * consensus or a refusal does not shorten that wait. Only those that a clock which was ahead has dated, and that no node
 * has taken, are let go before their time.
 *
 * A batch is confirmed where the federation's log decided it, and named again where its message decided nothing. Of a
 * rescue or a statement the message is all that there is to do: it ends when the final reading showed it, or when the
 * log has what it is for. No receipt and no mirror's word about a transaction confirms a batch; a receipt is a second
 * source of where the message stands.
 */
export class AnchorSubmission {
  /** Rung when something that it waits for may have come. */
  readonly wake = new AutoResetEvent();
  readonly #port: SubmissionPort;
  /** As it is on the disk: replaced only after the write. */
  #row: OutboxRow;
  #failures = 0;
  /** Of the monotonic clock: when a node accepted it last in this process; null for never. */
  #acceptedAt: number | null = null;
  /** The status of the last receipt that told of a failure. */
  #failedBy: string | null = null;
  #isNamed = false;
  /** The final reading showed a message of this row that decided nothing. */
  #decidedNothing = false;
  /** Names of this run that decided nothing. */
  #fruitless = 0;

  constructor(port: SubmissionPort, row: OutboxRow) {
    this.#port = port;
    this.#row = row;
  }

  /** Whether a receipt shows that the message is on the ledger. It is confirmed only by the topic. */
  get isNamed(): boolean {
    return this.#isNamed;
  }

  /** Whether a transaction of it is frozen, which may be on its way. */
  get isSent(): boolean {
    return this.#row.transaction !== null;
  }

  get message(): string {
    return this.#row.message;
  }

  /** Number of the own batch; null for anything else. */
  get batch(): number | null {
    return isBatchRow(this.#row) ? this.#row.batch : null;
  }

  /** The final reading shows this row's message, paid by this node: it decided nothing where it stands. */
  noteUndecided(): void {
    this.#decidedNothing = true;
    this.wake.notify();
  }

  /** Resolves once the row is confirmed, or when the signal ends. Rejects where the store fails. */
  async run(): Promise<void> {
    const { signal } = this.#port;
    while (!signal.aborted) {
      const standing = await this.#standing();
      if (await this.#closeIfDone(standing)) return;
      if (standing === 'other') {
        await this.wake.wait(OUTDONE_MS, signal);
        continue;
      }
      if (this.#decidedNothing) await this.#nameAgain();
      const { transaction } = this.#row;
      if (transaction === null) await this.#freeze();
      else await this.#advance(transaction);
    }
  }

  #monotonic(): number {
    return (this.#port.monotonic ?? (() => performance.now()))();
  }

  #standing(): Promise<NameStanding> {
    return this.#port.naming.standingOf(this.#row.message);
  }

  async #closeIfDone(standing: NameStanding): Promise<boolean> {
    if (!this.#isDone(standing)) return false;
    const { store, now, onConfirmed } = this.#port;
    await store.write(closeOperations(this.#row, timestampOf(now())));
    onConfirmed(this.#row);
    return true;
  }

  #isDone(standing: NameStanding): boolean {
    if (isBatchRow(this.#row)) return standing === 'decided';
    return standing !== 'open' || this.#decidedNothing;
  }

  /** The transaction is on the ledger and decided nothing: its batch is named by another one. */
  async #nameAgain(): Promise<void> {
    const { store, now, log, signal } = this.#port;
    this.#decidedNothing = false;
    if (this.#row.transaction === null || !isBatchRow(this.#row)) return;
    const row = requeue(this.#row, timestampOf(now()));
    await store.write([rowOperation(row)]);
    log.warn(subjectOf(row), 'a name decided nothing; naming the batch again');
    this.#row = row;
    this.#isNamed = false;
    this.#failures = 0;
    this.#failedBy = null;
    await this.wake.wait(backoffDelay(++this.#fruitless, this.#port.random()), signal);
  }

  async #freeze(): Promise<void> {
    const freezing = await this.#port.freezeNext(this.#row);
    if (freezing.kind === 'held') {
      await this.wake.wait(freezing.milliseconds, this.#port.signal);
      return;
    }
    this.#row = freezing.row;
    this.#acceptedAt = null;
  }

  /**
   * One round with frozen bytes: send them if that is due, look whether they arrived, or learn that they never will.
   */
  async #advance(transaction: PreparedTransaction): Promise<void> {
    const { naming, now, signal } = this.#port;
    const left = transaction.validUntil - now() / 1000;
    if (left <= 0) return this.#bury(transaction);
    if (left > MOST_VALID_SECONDS && this.#row.status === 'prepared') return this.#freezeAnew(transaction);
    const isUsable = left > SEND_MARGIN_SECONDS;
    const isDue = this.#acceptedAt === null || this.#monotonic() - this.#acceptedAt >= RESEND_MS;
    if (isUsable && isDue) await this.#send(transaction);
    else if (!this.#isNamed) await this.#askReceipt(transaction);
    naming.readSoon();
    const pause = this.#isNamed ? LOOK_MS : RECEIPT_MS;
    await this.wake.wait(this.#failures > 0 ? backoffDelay(this.#failures, this.#port.random()) : pause, signal);
  }

  async #send(transaction: PreparedTransaction): Promise<void> {
    const { ledger, noteContact, log, signal } = this.#port;
    try {
      const outcome = await ledger.submit(transaction, signal);
      if (outcome === 'accepted') {
        this.#failures = 0;
        this.#acceptedAt = this.#monotonic();
        noteContact('answered', null);
        await this.#noteSubmitted();
        return;
      }
      if (signal.aborted) return;
      this.#failures++;
      noteContact('silent', null);
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      this.#failures++;
      noteContact('answered', error.code);
      const named = { ...subjectOf(this.#row), code: error.code, ...settingOf(error.code, 'LEDGER_OPERATOR_KEY') };
      log.error(named, 'the ledger refuses an anchor; trying again');
    }
  }

  async #noteSubmitted(): Promise<void> {
    if (this.#row.status === 'submitted') return;
    const { store, now } = this.#port;
    const row = noteSubmitted(this.#row, timestampOf(now()));
    await store.write([rowOperation(row)]);
    this.#row = row;
  }

  /** A receipt lets the next batch depart. A failure has to outlast the validity all the same. */
  async #askReceipt({ transactionId }: PreparedTransaction): Promise<void> {
    const { ledger, naming, onNamed, noteContact, log, signal } = this.#port;
    const receipt = await ledger.receipt(transactionId, signal);
    if (receipt.kind === 'landed') {
      this.#isNamed = true;
      naming.noteReceipt(receipt.point);
      onNamed(this.#row);
    } else if (receipt.kind === 'failed' && receipt.code !== this.#failedBy) {
      this.#failedBy = receipt.code;
      noteContact('answered', receipt.code);
      const named = { ...subjectOf(this.#row), code: receipt.code, ...settingOf(receipt.code, 'LEDGER_SUBMIT_KEY') };
      log.error(named, 'an anchor failed at consensus');
    }
  }

  /** Dated by a clock that was ahead, and taken by no node: nothing would be named before that time. */
  async #freezeAnew({ transactionId }: PreparedTransaction): Promise<void> {
    const { store, now, log } = this.#port;
    const row = requeue(this.#row, timestampOf(now()));
    await store.write([rowOperation(row)]);
    log.warn({ ...subjectOf(row), transactionId }, 'a transaction is dated ahead of the clock; anchoring anew');
    this.#row = row;
    this.#failures = 0;
  }

  /** Past the validity: waits until a mirror knows for sure, and then lets the transaction go. */
  async #bury({ transactionId, validUntil }: PreparedTransaction): Promise<void> {
    const { mirror, naming, store, now, log, signal } = this.#port;
    const fate = await mirror.fate(transactionId, validUntil, signal);
    if (signal.aborted) return;
    if (fate.kind === 'dead') {
      const row = requeue(this.#row, timestampOf(now()));
      await store.write([rowOperation(row)]);
      log.warn({ ...subjectOf(row), transactionId, result: fate.result }, 'a transaction died; anchoring anew');
      this.#row = row;
      this.#failures = 0;
      return;
    }
    if (fate.kind === 'success') {
      this.#isNamed = true;
      if (await this.#wasInVain()) {
        this.#decidedNothing = true;
        return;
      }
    } else {
      this.#failures++;
    }
    naming.readSoon();
    await this.wake.wait(Math.max(LOOK_MS, backoffDelay(this.#failures, this.#port.random())), signal);
  }

  /** Whether the log has nothing of it still once it has read past the message. */
  async #wasInVain(): Promise<boolean> {
    const { naming, signal } = this.#port;
    await naming.readToEnd(signal);
    return !signal.aborted && (await this.#standing()) === 'open';
  }
}

/**
 * The variable that a missing signature speaks of, for the log: a consensus node checks that of the payer before it
 * takes a transaction; that which the topic asks for is missed at consensus.
 */
function settingOf(code: string, key: 'LEDGER_OPERATOR_KEY' | 'LEDGER_SUBMIT_KEY'): { readonly setting?: string } {
  return code === 'INVALID_SIGNATURE' ? { setting: key } : {};
}

/** What a row is about, for the log. */
export function subjectOf(row: OutboxRow): Readonly<Record<string, number | string>> {
  if (isBatchRow(row)) return { batch: row.batch };
  return isRescueRow(row) ? { node: row.rescued, batch: row.number } : { statement: row.statement };
}

/**
 * What the log says of a message. Of a batch: that this very message, or one of another envelope, was decided at its
 * number. Of a roster or a revocation: that it is in force. `counts`: it waits among this member's names for a
 * majority. `open`: nothing.
 */
export type NameStanding = 'decided' | 'other' | 'counts' | 'open';

/**
 * What those who name batches and statements know of the ledger's topic, and of what the federation's log made of it.
 */
export interface Naming {
  /** Of a text that is a ledger message. */
  readonly standingOf: (text: string) => Promise<NameStanding>;
  /** Whether a name of this own batch could decide something now, and its body is held by another member. */
  readonly mayName: (message: BatchMessage) => boolean;
  /** Resolves once the final reading has come to what was the topic's end at the call, or when the signal ends. */
  readonly readToEnd: (signal: AbortSignal) => Promise<void>;
  /** A message of this node is awaited: the topic is to be read soon. */
  readonly readSoon: () => void;
  /** Where a message of this node landed, by the word of a consensus node. */
  readonly noteReceipt: (point: TopicPoint) => void;
}
