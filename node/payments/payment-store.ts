import type { Sha256Hash } from '../../protocol/hash.ts';
import type { RecordId } from '../../protocol/ids.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { parseText } from '../../protocol/json/text.ts';
import type { WalletAddress } from '../../protocol/payments/payment.ts';
import type { Settlement } from '../../protocol/payments/settlement.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { PreparedDraft } from '../intake/draft.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import type { Table } from '../store/table.ts';
import { type AnswerDraft, answerDraft } from './answer-draft.ts';
import { PaymentDamagedError, type PaymentCipher } from './payment-cipher.ts';
import { keyParts, type PaymentKey, keyText, readKeyParts, readKeyText } from './payment-key.ts';
import {
  type IdentifierRow,
  isOpen,
  paymentAnswerTable,
  paymentDraftTable,
  paymentEndTable,
  paymentIdentifierTable,
  paymentOpenTable,
  type PaymentRow,
  paymentTable,
  paymentUnpublishedTable,
  type Publication,
} from './payment-tables.ts';
import {
  preparedIds,
  preparedOperations,
  preparedRemovals,
  preparedRow,
  readPrepared,
  seedRemovals,
} from './prepared-rows.ts';
import type { SettlementLedger } from './settlement-ledger.ts';

/** What the work of a paid call came to: the answer, and the records that are made once it is settled. */
export interface MadeWork {
  readonly answer: AnswerDraft;
  readonly prepared: readonly PreparedDraft[];
}

export interface PaymentStoreOptions {
  readonly store: Store;
  readonly cipher: PaymentCipher;
  readonly ledger: Pick<SettlementLedger, 'append'>;
  readonly now: () => number;
}

/** How long an answer is held for those who ask again. In milliseconds. */
export const HELD_MS = 7 * 86_400_000;
/**
 * After its last second an authorization is over for the chain, whose newest blocks may be replaced. In milliseconds.
 */
export const OVER_MARGIN_MS = 10_000;

/** What a payment is from its first call on. */
interface FreshPayment extends Omit<
  PaymentRow,
  'request' | 'state' | 'attempts' | 'drafts' | 'ends' | 'settlement' | 'publication' | 'reason'
> {
  /** Hash of the request. */
  readonly request: Sha256Hash;
}

/** A payment as it stands on the disk, or is about to. */
export interface StoredPayment {
  readonly key: PaymentKey;
  readonly row: PaymentRow;
}

/**
 * The payment ledger on the disk. Every change of a payment is one atomic synced write of its row and all that hangs on
 * it. Ownership: anyone who changes a payment holds its flight, so no two changes of one meet.
 */
export class PaymentStore {
  readonly #options: PaymentStoreOptions;
  /** What an identifier leads to hangs on all payments under it: those change one at a time. */
  readonly #identifiers = new KeyedLock();

  constructor(options: PaymentStoreOptions) {
    this.#options = options;
  }

  read(key: PaymentKey): Promise<PaymentRow | undefined> {
    return paymentTable.get(this.#options.store, ...keyParts(key));
  }

  /** The answer that is held for a payment; undefined where none is, or no more. */
  async answerOf(key: PaymentKey): Promise<AnswerDraft | undefined> {
    const sealed = await paymentAnswerTable.get(this.#options.store, ...keyParts(key));
    return sealed && answerDraft(this.#open(paymentAnswerTable.key(...keyParts(key)), sealed));
  }

  /** The records that are prepared for a payment. Throws `HeldDamagedError`. */
  async preparedOf({ key, row }: StoredPayment): Promise<readonly PreparedDraft[]> {
    const prepared = await readPrepared(this.#options.store, key);
    if (prepared.length === row.drafts) return prepared;
    throw new PaymentDamagedError(`of ${row.drafts} prepared records ${prepared.length} are there`);
  }

  /** Id of the first of them; undefined where there are none. */
  async firstPrepared(key: PaymentKey): Promise<RecordId | undefined> {
    const first = await paymentDraftTable.get(this.#options.store, ...keyParts(key), 0);
    return first && preparedRow(first).id;
  }

  identified(payer: WalletAddress, identifier: string): Promise<IdentifierRow | undefined> {
    return paymentIdentifierTable.get(this.#options.store, payer, identifier);
  }

  /** The other open payments of a payer that were made under an identifier. */
  async openUnder({ network, asset, payer, nonce: own }: PaymentKey, identifier: string): Promise<StoredPayment[]> {
    const found: StoredPayment[] = [];
    for await (const [[nonce = '']] of paymentOpenTable.under(this.#options.store, [network, asset, payer])) {
      const key = readKeyParts([network, asset, payer, nonce]);
      if (key === undefined || nonce === own) continue;
      const row = await this.read(key);
      if (row?.identifier === identifier) found.push({ key, row });
    }
    return found;
  }

  /** Payments that are open, in order of their keys. */
  openKeys(after: PaymentKey | undefined, limit: number): Promise<PaymentKey[]> {
    return this.#keysOf(paymentOpenTable, after, limit);
  }

  /** Payments that are settled and not published, in order of their keys. */
  unpublishedKeys(after: PaymentKey | undefined, limit: number): Promise<PaymentKey[]> {
    return this.#keysOf(paymentUnpublishedTable, after, limit);
  }

  /** A payment of which nothing is on the disk yet. */
  fresh({ request, ...facts }: FreshPayment): PaymentRow {
    const nothing = { drafts: 0, ends: null, settlement: null, publication: null, reason: null };
    return { ...facts, ...nothing, request: this.#options.cipher.digest(request), state: 'settling', attempts: 1 };
  }

  /** Whether a row is of this request. One that the release before wrote holds the hash itself. */
  isOf({ request }: Pick<PaymentRow, 'request'>, asked: Sha256Hash): boolean {
    return request === this.#options.cipher.digest(asked) || request === asked;
  }

  /**
   * Where the work was just made: from here on the payment may be settled. Crash order: answer and prepared records are
   * on the disk before anyone is asked to move the value, and before this nothing of the payment is.
   */
  async begin({ key, row }: StoredPayment, { answer, prepared }: MadeWork): Promise<PaymentRow> {
    const after: PaymentRow = { ...row, state: 'settling', drafts: prepared.length };
    const operations = [
      ...moved(key, undefined, after),
      ...(await preparedOperations(key, prepared)),
      paymentAnswerTable.put(keyParts(key), this.#seal(paymentAnswerTable.key(...keyParts(key)), { ...answer })),
      ...named({ key, row: after }),
    ];
    await this.#alone({ key, row }, () => this.#options.store.write(operations));
    return after;
  }

  /** The same for a payment whose settlement was refused before: its work is held. */
  async beginAgain({ key, row }: StoredPayment): Promise<PaymentRow> {
    const after: PaymentRow = { ...row, state: 'settling', attempts: row.attempts + 1, reason: null };
    const operations = [...moved(key, row, after), ...named({ key, row: after })];
    await this.#alone({ key, row }, () => this.#options.store.write(operations));
    return after;
  }

  /** The payee has the money: one write with the line of the settlement ledger. */
  async settled(payment: StoredPayment, transaction: string): Promise<PaymentRow> {
    const { key, row } = payment;
    const { network, asset, payer, nonce } = key;
    const { amount, payTo, service } = row;
    const isWhole = row.drafts === 0;
    const ends = isWhole ? this.#now() + HELD_MS : null;
    const after = ({ seq }: Pick<Settlement, 'seq'>): PaymentRow => ({
      ...row,
      state: isWhole ? 'published' : 'settled',
      ends,
      settlement: { seq, transaction },
      reason: null,
    });
    const facts = { amount, asset, network, nonce, payTo, payer, service, transaction };
    return this.#alone(payment, async () => {
      const naming = (await this.#isOtherSettled(payment)) ? [] : named(payment);
      return after(await this.#options.ledger.append(facts, (line) => [...moved(key, row, after(line)), ...naming]));
    });
  }

  /** A settled payment as it is once its records are made. */
  afterPublication({ row }: StoredPayment, publication: Publication): PaymentRow {
    return { ...row, state: 'published', ends: this.#now() + HELD_MS, publication };
  }

  /** The rows by which a payment is published, with records of these ids. They belong into the write of the records. */
  publishOperations({ key, row }: StoredPayment, after: PaymentRow, ids: readonly RecordId[]): Operation[] {
    return [...moved(key, row, after), ...preparedRemovals(key, row.drafts), ...seedRemovals(ids)];
  }

  /** For records that were made before, and taken back from other members: they have no payload, so their keys go. */
  async publishedBefore(payment: StoredPayment, publication: Publication): Promise<PaymentRow> {
    const after = this.afterPublication(payment, publication);
    const ids = await preparedIds(this.#options.store, payment.key);
    await this.#options.store.write(this.publishOperations(payment, after, ids));
    return after;
  }

  /** Nothing was charged. What was made is held for the same signature, for as long as it can pay. */
  unpaid(payment: StoredPayment, reason: string): Promise<PaymentRow> {
    return this.#move(payment, { ...payment.row, state: 'unpaid', reason }, []);
  }

  /** Nothing was charged, and never can be: what was prepared goes, and nobody ever learns of it. */
  async burnt(payment: StoredPayment, reason: string): Promise<PaymentRow> {
    const ends = payment.row.validBefore * 1_000 + OVER_MARGIN_MS;
    return this.#move(payment, { ...payment.row, state: 'burnt', ends, reason }, [
      paymentAnswerTable.del(...keyParts(payment.key)),
      ...(await this.#preparedRemovals(payment)),
    ]);
  }

  unknown(payment: StoredPayment): Promise<PaymentRow> {
    return this.#move(payment, { ...payment.row, state: 'unknown' }, []);
  }

  /**
   * Nothing was charged, the authorization is over, and nothing is left of the payment. Its identifier is left to another
   * that may still be paid, or have been.
   */
  async forget(payment: StoredPayment): Promise<void> {
    const parts = keyParts(payment.key);
    const { ends } = payment.row;
    const removals = [
      ...(await this.#preparedRemovals(payment)),
      paymentTable.del(...parts),
      paymentOpenTable.del(...parts),
      paymentAnswerTable.del(...parts),
      ...(ends === null ? [] : [paymentEndTable.del(ends, ...parts)]),
    ];
    await this.#alone(payment, async () =>
      this.#options.store.write([...removals, ...(await this.#identifierLeft(payment))]),
    );
  }

  /**
   * The end of what is held: the answer of a published payment and what its request can be told by, and all that is
   * left of a burnt one.
   */
  async endHeld(payment: StoredPayment, end: number): Promise<void> {
    const { key, row } = payment;
    const parts = keyParts(key);
    if (row.ends === end && row.state === 'burnt') return this.forget(payment);
    await this.#options.store.write([
      paymentEndTable.del(end, ...parts),
      ...(row.ends === end ? [paymentAnswerTable.del(...parts), ...(await this.#requestRemovals(payment))] : []),
    ]);
  }

  #alone<Result>({ key, row: { identifier } }: StoredPayment, change: () => Promise<Result>): Promise<Result> {
    return identifier === null ? change() : this.#identifiers.exclusive(`${key.payer}/${identifier}`, change);
  }

  /** Whether the identifier of a payment leads to another one that the payee has the money of: then it stays so. */
  async #isOtherSettled({ key, row }: StoredPayment): Promise<boolean> {
    const found = row.identifier === null ? undefined : await this.identified(key.payer, row.identifier);
    const other = found && readKeyText(found.payment);
    if (other === undefined || other.nonce === key.nonce) return false;
    return ((await this.read(other))?.settlement ?? null) !== null;
  }

  /** What becomes of the identifier of a payment that is forgotten. */
  async #identifierLeft({ key, row: { identifier } }: StoredPayment): Promise<Operation[]> {
    if (identifier === null) return [];
    if ((await this.identified(key.payer, identifier))?.payment !== keyText(key)) return [];
    const [next] = await this.openUnder(key, identifier);
    return next === undefined ? [paymentIdentifierTable.del(key.payer, identifier)] : named(next);
  }

  /** No other payment takes the identifier meanwhile: its row leads to one that was published before. */
  async #requestRemovals({ key, row }: StoredPayment): Promise<Operation[]> {
    const { identifier } = row;
    const found = identifier === null ? undefined : await this.identified(key.payer, identifier);
    return endedRequestOperations(key, row, found);
  }

  async #preparedRemovals({ key, row }: StoredPayment): Promise<Operation[]> {
    const ids = await preparedIds(this.#options.store, key);
    return [...preparedRemovals(key, row.drafts), ...seedRemovals(ids)];
  }

  async #move({ key, row }: StoredPayment, after: PaymentRow, besides: readonly Operation[]): Promise<PaymentRow> {
    await this.#options.store.write([...moved(key, row, after), ...besides]);
    return after;
  }

  async #keysOf(table: Table<string>, after: PaymentKey | undefined, limit: number): Promise<PaymentKey[]> {
    const keys: PaymentKey[] = [];
    const range = after === undefined ? { limit } : { limit, after: keyText(after) };
    for await (const [parts] of table.under(this.#options.store, [], range)) {
      const key = readKeyParts(parts);
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }

  #now(): number {
    return this.#options.now();
  }

  #seal(row: string, value: object): Uint8Array {
    return this.#options.cipher.seal(row, JSON.stringify(value));
  }

  #open(row: string, sealed: Uint8Array): JsonObject {
    const value: unknown = parseText(this.#options.cipher.open(row, sealed));
    if (!isJsonObject(value)) throw new PaymentDamagedError(`${row} holds no object`);
    return value;
  }
}

/** That the identifier of a payment leads to it. */
function named({ key, row: { identifier, request } }: StoredPayment): Operation[] {
  if (identifier === null) return [];
  return [paymentIdentifierTable.put([key.payer, identifier], { request, payment: keyText(key) })];
}

/**
 * A payment's row and the rows by which it is found: while it is open, while it is unpublished, and when what is held
 * ends.
 */
function moved(key: PaymentKey, before: PaymentRow | undefined, after: PaymentRow): Operation[] {
  const parts = keyParts(key);
  const operations = [paymentTable.put(parts, after)];
  if (isOpen(after)) operations.push(paymentOpenTable.put(parts, ''));
  else if (before !== undefined && isOpen(before)) operations.push(paymentOpenTable.del(...parts));
  if (after.state === 'settled') operations.push(paymentUnpublishedTable.put(parts, ''));
  else if (before?.state === 'settled') operations.push(paymentUnpublishedTable.del(...parts));
  if (before !== undefined && before.ends !== null && before.ends !== after.ends) {
    operations.push(paymentEndTable.del(before.ends, ...parts));
  }
  if (after.ends !== null) operations.push(paymentEndTable.put([after.ends, ...parts], ''));
  return operations;
}

/**
 * Takes away what the request of a payment can be told by, once its answer has ended. `found`: the row of its
 * identifier, which goes on leading to it.
 */
export function endedRequestOperations(
  key: PaymentKey,
  row: PaymentRow,
  found: IdentifierRow | undefined,
): Operation[] {
  const { identifier } = row;
  const operations = [paymentTable.put(keyParts(key), { ...row, request: null })];
  if (identifier !== null && found?.payment === keyText(key)) {
    operations.push(paymentIdentifierTable.put([key.payer, identifier], { ...found, request: null }));
  }
  return operations;
}
