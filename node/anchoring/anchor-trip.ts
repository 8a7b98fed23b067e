import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Store } from '../store/store.ts';
import { type AnchorRow, messageHash, readAnchor, type StatementAnchorRow, statementAnchorTable } from './anchors.ts';
import { LedgerError, type LedgerClient, type PreparedTransaction } from './ledger-client.ts';
import type { MirrorClient } from './mirror-client.ts';
import { closeOperations, isBatchRow, noteSubmitted, type OutboxRow, requeue, rowOperation } from './outbox.ts';
import { backOff } from './pace.ts';
import { Wake } from './wake.ts';

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
  readonly onConfirmed: (row: OutboxRow, anchor: AnchorRow | StatementAnchorRow) => void;
}

/** Nodes refuse a transaction in the last seconds of its validity; sending it then is of no use. In seconds. */
const SEND_MARGIN_SECONDS = 10;
/** How often the store and the receipt are looked at while a transaction that a node has is awaited, in milliseconds. */
const LOOK_MS = 1_000;
/** An accepted transaction that has not shown on the topic is sent again: the node may have lost it. In milliseconds. */
const RESEND_MS = 4_000;

/**
 * Carries one batch or statement from its outbox row to a confirmed anchor, and never gives up before that or the signal.
 *
 * Exactly once: at any time at most one transaction of the row can still reach the ledger. Its signed bytes are on the
 * disk before they are sent, are sent as often as needed, and are let go only when a mirror whose clock is past their
 * validity does not have them. A failure at consensus or a refusal does not shorten that wait.
 *
 * Confirmed only by the topic reader's own, linked reading: no receipt and no mirror's word about a transaction counts.
 */
export class AnchorTrip {
  /** Rung when the topic reader has seen the batch's message. */
  readonly wake = new Wake();
  readonly #port: TripPort;
  /** As it is on the disk: replaced only after the write. */
  #row: OutboxRow;
  #failures = 0;
  /** Epoch milliseconds of the last acceptance by a node in this process; null for none. */
  #acceptedAt: number | null = null;
  #lastReceipt = '';
  #isNamed = false;

  constructor(port: TripPort, row: OutboxRow) {
    this.#port = port;
    this.#row = row;
  }

  get isOfBatch(): boolean {
    return isBatchRow(this.#row);
  }

  /** Whether a receipt shows that the message is on the ledger. It is confirmed only by the topic. */
  get isNamed(): boolean {
    return this.#isNamed;
  }

  get message(): string {
    return this.#row.message;
  }

  /** Resolves once the batch is confirmed, or when the signal ends. Rejects where the store fails. */
  async run(): Promise<void> {
    const { signal } = this.#port;
    while (!signal.aborted) {
      if (await this.#confirmIfRead()) return;
      const { transaction } = this.#row;
      if (transaction === null) await this.#freeze();
      else await this.#advance(transaction);
    }
  }

  /** Whether the row's very message stands on the topic, of a batch by whomever it was sent; then the row is closed. */
  async #confirmIfRead(): Promise<boolean> {
    const { store, now, onConfirmed } = this.#port;
    const anchor = await this.#readAnchor();
    // Members name a statement by the same text: only this node's own message is its word.
    if (anchor === undefined || (!this.isOfBatch && !this.#isNamed)) return false;
    await store.write(closeOperations(this.#row, timestampOf(now())));
    onConfirmed(this.#row, anchor);
    return true;
  }

  /** What is named is anchored by the message that says all of it, and by no other that a stranger may have written. */
  #readAnchor(): Promise<AnchorRow | StatementAnchorRow | undefined> {
    const row = this.#row;
    const { node, store } = this.#port;
    if (isBatchRow(row)) return readAnchor(store, node, row.batch, row.message);
    return statementAnchorTable.get(store, row.statement, messageHash(row.message));
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
    if (fate.kind === 'success') this.#isNamed = true;
    else this.#failures++;
    poke();
    await this.wake.wait(Math.max(LOOK_MS, backOff(this.#failures, this.#port.random())), signal);
  }
}

/** What a row is about, for the log. */
export function subjectOf(row: OutboxRow): { readonly batch: number } | { readonly statement: string } {
  return isBatchRow(row) ? { batch: row.batch } : { statement: row.statement };
}
