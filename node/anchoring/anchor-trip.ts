import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Store } from '../store/store.ts';
import { messageHash, statementAnchorTable } from './anchors.ts';
import { LedgerError, type LedgerClient, type PreparedTransaction } from '../ledger/ledger-client.ts';
import type { MirrorClient } from '../ledger/mirror-client.ts';
import type { Naming, NameStanding } from './naming.ts';
import {
  closeOperations,
  isBatchRow,
  isRescueRow,
  noteSubmitted,
  type OutboxRow,
  requeue,
  rowOperation,
} from './outbox.ts';
import { backOff } from '../back-off.ts';
import { Wake } from '../wake.ts';

/** `frozen`: the row as it is on the disk now. `held`: to be asked again after the pause. */
export type Freezing =
  | { readonly kind: 'frozen'; readonly row: OutboxRow }
  | { readonly kind: 'held'; readonly milliseconds: number };

/** What a trip needs from its anchorer. */
export interface TripPort {
  readonly node: NodeId;
  readonly store: Store;
  readonly ledger: LedgerClient;
  readonly mirror: MirrorClient;
  readonly naming: Pick<Naming, 'standingOf' | 'readToEnd'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Freezes a transaction for the row, if the spend guard lets it. */
  readonly freezeNext: (row: OutboxRow) => Promise<Freezing>;
  /** The topic is to be read soon. */
  readonly poke: () => void;
  /** A receipt shows that the message is on the ledger. */
  readonly onNamed: (row: OutboxRow) => void;
  readonly noteContact: (outcome: 'answered' | 'silent', refusal: string | null) => void;
  readonly onSubmitted: (row: OutboxRow) => void;
  readonly onConfirmed: (row: OutboxRow) => void;
}

/** Nodes refuse a transaction in the last seconds of its validity; sending it then is of no use. In seconds. */
const SEND_MARGIN_SECONDS = 10;
/** How often the store and the receipt are looked at while a transaction that a node has is awaited, in milliseconds. */
const LOOK_MS = 1_000;
/** Pause of a batch in whose place another was decided: nothing is sent for it. In milliseconds. */
const OUTDONE_MS = 60_000;
/** An accepted transaction that has not shown on the topic is sent again: the node may have lost it. In milliseconds. */
const RESEND_MS = 4_000;

/**
 * Carries one name from its outbox row to the ledger, and never gives up before it is confirmed or the signal ends.
 *
 * Never twice in flight: at any time at most one transaction of the row can still reach the ledger. Its signed bytes are on
 * the disk before they are sent, are sent as often as needed, and are let go only when a mirror whose clock is past their
 * validity does not have them, or when the final reading of the topic showed their message. A failure at consensus or a
 * refusal does not shorten that wait.
 *
 * A batch is confirmed where the federation's log decided it, and named again where its message decided nothing. A rescue
 * ends when its message was read, or its number decided. A statement is confirmed by the topic reader's own, linked reading.
 * No receipt and no mirror's word about a transaction confirms anything.
 */
export class AnchorTrip {
  /** Rung when something that it waits for may have come. */
  readonly wake = new Wake();
  readonly #port: TripPort;
  /** As it is on the disk: replaced only after the write. */
  #row: OutboxRow;
  #failures = 0;
  /** Epoch milliseconds of the last acceptance by a node in this process; null for none. */
  #acceptedAt: number | null = null;
  #lastReceipt = '';
  #isNamed = false;
  /** The final reading showed a message of this row that decided nothing. */
  #decidedNothing = false;
  /** Names of this run that decided nothing. */
  #fruitless = 0;

  constructor(port: TripPort, row: OutboxRow) {
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
    this.wake.ring();
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

  /** What the log says of the batch that is named; `open` for a statement. */
  async #standing(): Promise<NameStanding> {
    const row = this.#row;
    const { node, naming } = this.#port;
    if (isBatchRow(row)) return naming.standingOf(node, row.batch, row.message);
    return isRescueRow(row) ? naming.standingOf(row.rescued, row.number, row.message) : 'open';
  }

  async #closeIfDone(standing: NameStanding): Promise<boolean> {
    if (!(await this.#isDone(standing))) return false;
    const { store, now, onConfirmed } = this.#port;
    await store.write(closeOperations(this.#row, timestampOf(now())));
    onConfirmed(this.#row);
    return true;
  }

  async #isDone(standing: NameStanding): Promise<boolean> {
    const row = this.#row;
    if (isBatchRow(row)) return standing === 'decided';
    if (isRescueRow(row)) return standing !== 'open' || this.#decidedNothing;
    // Members name a statement by the same text: only this node's own message is its word.
    if (!this.#isNamed) return false;
    const anchor = await statementAnchorTable.get(this.#port.store, row.statement, messageHash(row.message));
    return anchor !== undefined;
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
    this.#lastReceipt = '';
    await this.wake.wait(backOff(++this.#fruitless, this.#port.random()), signal);
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

  /** One round with frozen bytes: send them if that is due, look whether they arrived, or learn that they never will. */
  async #advance(transaction: PreparedTransaction): Promise<void> {
    const { now, signal } = this.#port;
    if (now() / 1000 >= transaction.validUntil) {
      await this.#bury(transaction);
      return;
    }
    const isUsable = now() / 1000 < transaction.validUntil - SEND_MARGIN_SECONDS;
    const isDue = this.#acceptedAt === null || now() - this.#acceptedAt >= RESEND_MS;
    if (isUsable && isDue) await this.#send(transaction);
    else await this.#lookAtReceipt(transaction);
    this.#port.poke();
    await this.wake.wait(this.#failures > 0 ? backOff(this.#failures, this.#port.random()) : LOOK_MS, signal);
  }

  async #send(transaction: PreparedTransaction): Promise<void> {
    const { ledger, now, noteContact, log, signal } = this.#port;
    try {
      const outcome = await ledger.submit(transaction, signal);
      if (outcome === 'accepted') {
        this.#failures = 0;
        this.#acceptedAt = now();
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
      log.error({ ...subjectOf(this.#row), code: error.code }, 'the ledger refuses an anchor; trying again');
    }
  }

  async #noteSubmitted(): Promise<void> {
    if (this.#row.status === 'submitted') return;
    const { store, now, onSubmitted } = this.#port;
    const row = noteSubmitted(this.#row, timestampOf(now()));
    await store.write([rowOperation(row)]);
    this.#row = row;
    onSubmitted(row);
  }

  /** A receipt lets the next batch depart; success shows on the topic, and a failure has to outlast the validity anyway. */
  async #lookAtReceipt({ transactionId }: PreparedTransaction): Promise<void> {
    const receipt = await this.#port.ledger.receipt(transactionId, this.#port.signal);
    const text = typeof receipt === 'string' ? receipt : receipt.failed;
    if (text === this.#lastReceipt) return;
    this.#lastReceipt = text;
    if (receipt === 'success') {
      this.#isNamed = true;
      this.#port.onNamed(this.#row);
    }
    if (typeof receipt === 'string') return;
    this.#port.noteContact('answered', receipt.failed);
    this.#port.log.error({ ...subjectOf(this.#row), code: receipt.failed }, 'an anchor failed at consensus');
  }

  /** Past the validity: waits until a mirror knows for sure, and then lets the transaction go. */
  async #bury({ transactionId, validUntil }: PreparedTransaction): Promise<void> {
    const { mirror, store, now, log, signal, poke } = this.#port;
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
    poke();
    await this.wake.wait(Math.max(LOOK_MS, backOff(this.#failures, this.#port.random())), signal);
  }

  /** Whether a batch is open still once the log has read past the message that names it. */
  async #wasInVain(): Promise<boolean> {
    const { naming, signal } = this.#port;
    if (!isBatchRow(this.#row) && !isRescueRow(this.#row)) return false;
    await naming.readToEnd(signal);
    return !signal.aborted && (await this.#standing()) === 'open';
  }
}

/** What a row is about, for the log. */
export function subjectOf(row: OutboxRow): Readonly<Record<string, number | string>> {
  if (isBatchRow(row)) return { batch: row.batch };
  return isRescueRow(row) ? { node: row.rescued, batch: row.number } : { statement: row.statement };
}
