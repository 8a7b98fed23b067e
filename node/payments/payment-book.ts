import { isRecordId, type RecordId } from '../../protocol/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { parseText } from '../../protocol/json/text.ts';
import type { WalletAddress } from '../../protocol/payments/payment.ts';
import type { Settlement } from '../../protocol/payments/settlement.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { HeldDamagedError, type HeldVault } from './held-vault.ts';
import { keyParts, type PaymentKey, keyText, readKeyParts } from './payment-key.ts';
import {
  type IdentifierRow,
  isOpen,
  paymentAnswerTable,
  paymentEndTable,
  paymentIdentifierTable,
  paymentOpenTable,
  type PaymentRow,
  paymentTable,
  paymentWorkTable,
  unpaidRecordTable,
} from './payment-tables.ts';
import type { SettlementLedger } from './settlement-ledger.ts';

/** What the work of a payment left behind, so that a later attempt has the same records and the same answer. */
export interface KeptWork {
  readonly records: readonly RecordId[];
  /** What the answer needs beside the records. */
  readonly kept: JsonObject;
}

export interface PaymentBookOptions {
  readonly store: Store;
  readonly vault: HeldVault;
  readonly ledger: Pick<SettlementLedger, 'append'>;
  readonly now: () => number;
}

/** How long an answer is held for those who ask again. In milliseconds. */
export const HELD_MS = 7 * 86_400_000;

/** A payment as it stands on the disk. */
export interface BookedPayment {
  readonly key: PaymentKey;
  readonly row: PaymentRow;
}

/**
 * The payment ledger on the disk. Every change of a payment is one atomic synced write of its row and all that hangs on
 * it. Ownership: whoever changes a payment holds its flight, so no two changes of one meet.
 */
export class PaymentBook {
  readonly #options: PaymentBookOptions;

  constructor(options: PaymentBookOptions) {
    this.#options = options;
  }

  read(key: PaymentKey): Promise<PaymentRow | undefined> {
    return paymentTable.get(this.#options.store, ...keyParts(key));
  }

  /** The answer that is held for a payment; undefined where none is, or no more. */
  async answerOf(key: PaymentKey): Promise<JsonObject | undefined> {
    const sealed = await paymentAnswerTable.get(this.#options.store, ...keyParts(key));
    return sealed && this.#open(paymentAnswerTable.key(...keyParts(key)), sealed);
  }

  /** The records that were made for a payment that is not settled; undefined where there are none. */
  async workOf(key: PaymentKey): Promise<KeptWork | undefined> {
    const sealed = await paymentWorkTable.get(this.#options.store, ...keyParts(key));
    return sealed && keptWork(this.#open(paymentWorkTable.key(...keyParts(key)), sealed));
  }

  identified(payer: WalletAddress, identifier: string): Promise<IdentifierRow | undefined> {
    return paymentIdentifierTable.get(this.#options.store, payer, identifier);
  }

  /** Payments whose settlement is open, in order of their keys. */
  async openKeys(after: PaymentKey | undefined, limit: number): Promise<PaymentKey[]> {
    const keys: PaymentKey[] = [];
    const range = after === undefined ? { limit } : { limit, after: keyText(after) };
    for await (const [parts] of paymentOpenTable.under(this.#options.store, [], range)) {
      const key = readKeyParts(parts);
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }

  /** A payment of which nothing is on the disk yet. */
  fresh(facts: Omit<PaymentRow, 'state' | 'attempts' | 'ends' | 'settlement' | 'reason'>): PaymentRow {
    return { ...facts, state: 'unpaid', attempts: 0, ends: this.#heldUntil(), settlement: null, reason: null };
  }

  /** The rows that leave work with its payment. They belong into the write of the work's records. */
  keepOperations({ key, row }: BookedPayment, work: KeptWork): Operation[] {
    const sealed = this.#seal(paymentWorkTable.key(...keyParts(key)), { ...work });
    return [
      ...moved(key, undefined, row),
      paymentWorkTable.put(keyParts(key), sealed),
      ...work.records.map((record) => unpaidRecordTable.put([record], keyText(key))),
    ];
  }

  /**
   * From here on the payment may be settled. `answer`: what is then given for it; left out where it is held already.
   * Crash order: the answer is on the disk before anyone is asked to move the value.
   */
  async beginSettling({ key, row }: BookedPayment, answer?: JsonObject): Promise<PaymentRow> {
    const after: PaymentRow = { ...row, state: 'settling', attempts: row.attempts + 1, ends: null, reason: null };
    const held = answer && this.#seal(paymentAnswerTable.key(...keyParts(key)), answer);
    const { identifier, request } = after;
    await this.#options.store.write([
      ...moved(key, row, after),
      ...(held === undefined ? [] : [paymentAnswerTable.put(keyParts(key), held)]),
      ...(identifier === null
        ? []
        : [paymentIdentifierTable.put([key.payer, identifier], { request, payment: keyText(key) })]),
    ]);
    return after;
  }

  /** The payee has the money: one write with the line of the settlement ledger. */
  async settled({ key, row }: BookedPayment, transaction: string): Promise<PaymentRow> {
    const work = await this.workOf(key);
    const { network, asset, payer, nonce } = key;
    const { amount, payTo, service } = row;
    const ends = this.#heldUntil();
    const after = ({ seq }: Pick<Settlement, 'seq'>): PaymentRow => ({
      ...row,
      state: 'settled',
      ends,
      settlement: { seq, transaction },
      reason: null,
    });
    const facts = { amount, asset, network, nonce, payTo, payer, service, transaction };
    const settlement = await this.#options.ledger.append(facts, (line) => [
      ...moved(key, row, after(line)),
      paymentWorkTable.del(...keyParts(key)),
      ...(work?.records ?? []).map((record) => unpaidRecordTable.del(record)),
    ]);
    return after(settlement);
  }

  /** Nothing was charged. What was made is held for the same signature. */
  unpaid(payment: BookedPayment, reason: string): Promise<PaymentRow> {
    return this.#move(payment, { ...payment.row, state: 'unpaid', ends: this.#heldUntil(), reason }, []);
  }

  /** Nothing was charged, and never can be. The records that were made for it stay unpaid. */
  burnt(payment: BookedPayment, reason: string): Promise<PaymentRow> {
    const parts = keyParts(payment.key);
    return this.#move(payment, { ...payment.row, state: 'burnt', ends: null, reason }, [
      paymentAnswerTable.del(...parts),
      paymentWorkTable.del(...parts),
    ]);
  }

  unknown(payment: BookedPayment): Promise<PaymentRow> {
    return this.#move(payment, { ...payment.row, state: 'unknown', ends: null }, []);
  }

  async #move({ key, row }: BookedPayment, after: PaymentRow, besides: readonly Operation[]): Promise<PaymentRow> {
    await this.#options.store.write([...moved(key, row, after), ...besides]);
    return after;
  }

  #heldUntil(): number {
    return this.#options.now() + HELD_MS;
  }

  #seal(row: string, value: object): Uint8Array {
    return this.#options.vault.seal(row, JSON.stringify(value));
  }

  #open(row: string, sealed: Uint8Array): JsonObject {
    const value: unknown = parseText(this.#options.vault.open(row, sealed));
    if (!isJsonObject(value)) throw new HeldDamagedError(`${row} holds no object`);
    return value;
  }
}

/** A payment's row and the rows by which it is found: those of its open settlement, and of the end of what is held. */
function moved(key: PaymentKey, before: PaymentRow | undefined, after: PaymentRow): Operation[] {
  const parts = keyParts(key);
  const operations = [paymentTable.put(parts, after)];
  if (isOpen(after)) operations.push(paymentOpenTable.put(parts, ''));
  else if (before !== undefined && isOpen(before)) operations.push(paymentOpenTable.del(...parts));
  if (before !== undefined && before.ends !== null && before.ends !== after.ends) {
    operations.push(paymentEndTable.del(before.ends, ...parts));
  }
  if (after.ends !== null) operations.push(paymentEndTable.put([after.ends, ...parts], ''));
  return operations;
}

/** Work as it was sealed. Throws `HeldDamagedError` on anything else. */
export function keptWork({ records, kept }: JsonObject): KeptWork {
  if (records !== undefined && isJsonArray(records) && isJsonObject(kept)) {
    const ids = records.filter((id) => typeof id === 'string').filter(isRecordId);
    if (ids.length === records.length) return { records: ids, kept };
  }
  throw new HeldDamagedError('the work of a payment holds something else');
}
