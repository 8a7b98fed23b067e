import { isRecordId } from '../../protocol/ids.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { isWalletAddress } from '../../protocol/payments/payment.ts';
import { settlementLine } from '../../protocol/payments/settlement.ts';
import { HeldDamagedError, type HeldVault } from '../payments/held-vault.ts';
import { keptWork } from '../payments/payment-book.ts';
import { keyParts, type PaymentKey, keyText, readKeyParts, readKeyText } from '../payments/payment-key.ts';
import {
  isOpen,
  paymentAnswerTable,
  paymentEndTable,
  paymentIdentifierTable,
  paymentOpenTable,
  type PaymentRow,
  paymentTable,
  paymentWorkTable,
  unpaidRecordTable,
} from '../payments/payment-tables.ts';
import { settlementTable } from '../payments/settlement-tables.ts';
import { recordIndex } from '../records/record-tables.ts';
import type { Table } from '../store/table.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows, reasonOf } from './rows.ts';

/**
 * Payments: each row whole, with the rows that its state asks for and no others; what is held for it opens; the records
 * made for it are marked as unpaid exactly while it is. That settled ones stand in the ledger is checked from both sides.
 */
export const paymentCheck: TableCheck = {
  tables: [
    paymentTable,
    paymentOpenTable,
    paymentAnswerTable,
    paymentWorkTable,
    paymentEndTable,
    paymentIdentifierTable,
    unpaidRecordTable,
  ],
  async run(check) {
    if (check.held === null) check.report.notChecked.push('what is held for payments: the home has no payload key');
    for await (const { key, parts, value } of readRows(check, paymentTable)) {
      check.report.count('payments');
      const payment = readKeyParts(parts);
      if (payment === undefined) check.report.problem(paymentTable.name, key, 'is no key of this table');
      else if (value !== undefined) await checkPayment(check, payment, value);
    }
    await checkOpen(check);
    await checkEnds(check);
    await checkAnswers(check);
    await checkWork(check);
    await checkIdentifiers(check);
    await checkUnpaid(check);
  },
};

async function checkPayment(check: Check, key: PaymentKey, row: PaymentRow): Promise<void> {
  const { store, report } = check;
  const fault = rowFault(row);
  if (fault !== null) return report.problem(paymentTable.name, paymentTable.key(...keyParts(key)), fault);
  const has = (table: Pick<Table<unknown>, 'key'>) => store.get(table.key(...keyParts(key)));
  if (isOpen(row)) {
    report.count('paymentsOpen');
    if ((await has(paymentOpenTable)) === undefined) missing(check, paymentOpenTable, key);
    if ((await has(paymentAnswerTable)) === undefined) missing(check, paymentAnswerTable, key);
  }
  if (row.settlement !== null && !(await isSettledBy(check, key, row.settlement.seq))) {
    const detail = `is not settled by line ${row.settlement.seq} of the settlement ledger, as it says`;
    report.problem(paymentTable.name, paymentTable.key(...keyParts(key)), detail);
  }
  if (row.identifier !== null && row.attempts > 0) {
    const found = await paymentIdentifierTable.get(store, key.payer, row.identifier).catch(() => undefined);
    if (found === undefined) {
      const name = paymentIdentifierTable.key(key.payer, row.identifier);
      report.problem(paymentIdentifierTable.name, name, `is missing: ${keyText(key)} was made under it`);
    }
  }
}

async function isSettledBy({ store }: Check, { payer, nonce }: PaymentKey, seq: number): Promise<boolean> {
  try {
    const line = await settlementTable.get(store, seq);
    const settlement = line === undefined ? undefined : settlementLine.parse(line).settlement;
    return settlement?.payer === payer && settlement.nonce === nonce;
  } catch {
    // A line that does not read is reported with the ledger.
    return true;
  }
}

function rowFault({ state, settlement, ends, attempts }: PaymentRow): string | null {
  if ((state === 'settled') !== (settlement !== null)) return `is ${state}, and its settlement says otherwise`;
  const isHeld = state === 'settled' || state === 'unpaid';
  if (isHeld !== (ends !== null)) return `is ${state}, and what is held for it says otherwise`;
  return state !== 'unpaid' && attempts === 0 ? `is ${state}, and no settlement was begun` : null;
}

function missing({ report }: Check, table: Pick<Table<unknown>, 'name' | 'key'>, key: PaymentKey): void {
  report.problem(table.name, table.key(...keyParts(key)), 'is missing: the payment is open');
}

/** The payment that a row of another table is about; undefined where there is none, or none that reads. */
async function paymentOf({ store }: Check, key: PaymentKey | undefined): Promise<PaymentRow | undefined> {
  return key && paymentTable.get(store, ...keyParts(key)).catch(() => undefined);
}

async function checkOpen(check: Check): Promise<void> {
  for await (const { key, parts } of readRows(check, paymentOpenTable)) {
    const row = await paymentOf(check, readKeyParts(parts));
    if (row === undefined || !isOpen(row)) check.report.problem(paymentOpenTable.name, key, 'is of no open payment');
  }
}

/** An end has something to end, and a payment that says when. */
async function checkEnds(check: Check): Promise<void> {
  for await (const { key, parts } of readRows(check, paymentEndTable)) {
    const [end = '', ...rest] = parts;
    const row = await paymentOf(check, readKeyParts(rest));
    if (row?.ends !== Number(end)) {
      check.report.problem(paymentEndTable.name, key, 'is not when what is held for its payment ends');
    } else if (!(await holds(check, rest, row))) {
      check.report.problem(paymentEndTable.name, key, 'is the end of something that is not there');
    }
  }
}

/** Before the first settlement there is work, and no answer yet. */
async function holds({ store }: Check, parts: readonly string[], { attempts }: PaymentRow): Promise<boolean> {
  const table = attempts === 0 ? paymentWorkTable : paymentAnswerTable;
  return (await store.get(table.key(...parts))) !== undefined;
}

async function checkAnswers(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, paymentAnswerTable)) {
    check.report.count('paymentsHeld');
    const row = await checkHeld(check, paymentAnswerTable, key, parts);
    if (row === undefined || value === undefined || check.held === null) continue;
    try {
      openHeld(check.held, key, value);
    } catch (error) {
      check.report.problem(paymentAnswerTable.name, key, reasonOf(error));
    }
  }
}

function openHeld(held: HeldVault, key: string, sealed: Uint8Array): JsonObject {
  const value: unknown = JSON.parse(held.open(key, sealed));
  if (!isJsonObject(value)) throw new HeldDamagedError(`${key} holds no object`);
  return value;
}

/** What is held belongs to a payment, and is let go of at a time that is noted, or when its settlement is over. */
async function checkHeld(
  check: Check,
  table: Table<Uint8Array>,
  key: string,
  parts: readonly string[],
): Promise<PaymentRow | undefined> {
  const { store, report } = check;
  const row = await paymentOf(check, readKeyParts(parts));
  if (row === undefined || row.state === 'burnt') {
    report.problem(table.name, key, 'is held for no payment');
    return undefined;
  }
  if (row.ends !== null && (await store.get(paymentEndTable.key(row.ends, ...parts))) === undefined) {
    report.problem(table.name, key, 'is held without end');
  }
  return row;
}

async function checkWork(check: Check): Promise<void> {
  const { store, report, held } = check;
  for await (const { key, parts, value } of readRows(check, paymentWorkTable)) {
    const row = await checkHeld(check, paymentWorkTable, key, parts);
    if (row?.state === 'settled') report.problem(paymentWorkTable.name, key, 'is of a settled payment');
    if (row === undefined || value === undefined || held === null) continue;
    try {
      for (const record of keptWork(openHeld(held, key, value)).records) {
        const unpaid = await unpaidRecordTable.get(store, record);
        if (unpaid === parts.join('/') || row.state === 'settled') continue;
        report.problem(
          unpaidRecordTable.name,
          unpaidRecordTable.key(record),
          'does not name the payment it was made for',
        );
      }
    } catch (error) {
      report.problem(paymentWorkTable.name, key, reasonOf(error));
    }
  }
}

async function checkIdentifiers(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, paymentIdentifierTable)) {
    if (value === undefined) continue;
    const [payer = '', identifier = ''] = parts;
    const payment = readKeyText(value.payment);
    const row = await paymentOf(check, payment);
    const isOf = isWalletAddress(payer) && payment?.payer === payer && row?.identifier === identifier;
    if (isOf && row.request === value.request && parts.length === 2) continue;
    check.report.problem(paymentIdentifierTable.name, key, `leads to ${value.payment}, which was not made under it`);
  }
}

async function checkUnpaid(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, unpaidRecordTable)) {
    check.report.count('recordsUnpaid');
    if (value === undefined) continue;
    const [record = ''] = parts;
    const row = await paymentOf(check, readKeyText(value));
    await checkKept(check, value, row);
    if (row === undefined || row.state === 'settled') {
      check.report.problem(unpaidRecordTable.name, key, 'was made for no payment that is not settled');
    } else if (!isRecordId(record) || (await check.store.get(recordIndex.key(record))) === undefined) {
      check.report.problem(unpaidRecordTable.name, key, 'is no record of this store');
    }
  }
}

/** Work is kept for as long as its payment can still pay for it, or what is held for it has not ended. */
async function checkKept({ store, report }: Check, payment: string, row: PaymentRow | undefined): Promise<void> {
  if (row === undefined || row.state === 'settled' || row.state === 'burnt') return;
  const isHeld = row.ends === null || (await store.get(paymentEndTable.key(row.ends, payment))) !== undefined;
  const work = paymentWorkTable.key(payment);
  if (isHeld && (await store.get(work)) === undefined) report.problem(paymentWorkTable.name, work, 'is missing');
}
