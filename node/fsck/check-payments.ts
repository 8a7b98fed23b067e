import { isJsonObject } from '../../protocol/json/value.ts';
import { isWalletAddress } from '../../protocol/payments/payment.ts';
import { settlementLine } from '../../protocol/payments/settlement.ts';
import { commitText } from '../../protocol/payload/commitment.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { preparedKeyTable } from '../records/payload/payload-keys.ts';
import { answerDraft, completeAnswer } from '../payments/answer-draft.ts';
import { PaymentDamagedError, type PaymentCipher } from '../payments/payment-cipher.ts';
import { keyParts, type PaymentKey, keyText, readKeyParts, readKeyText } from '../payments/payment-key.ts';
import {
  isOpen,
  paymentAnswerTable,
  paymentDraftTable,
  paymentEndTable,
  paymentIdentifierTable,
  paymentOpenTable,
  type PaymentRow,
  paymentTable,
  paymentUnpublishedTable,
} from '../payments/payment-tables.ts';
import { preparedRow, type PreparedRow } from '../payments/prepared-rows.ts';
import { settlementTable } from '../payments/settlement-tables.ts';
import { recordIndex } from '../records/record-tables.ts';
import type { Table } from '../store/table.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows, reasonOf } from './rows.ts';

/**
 * Payments: each row whole, with the rows that its state asks for and no others; what is held for it opens; records are
 * prepared for it exactly until they are made, and open to what they commit to. That settled ones stand in the ledger
 * is checked from both sides.
 */
export const paymentCheck: TableCheck = {
  tables: [
    paymentTable,
    paymentOpenTable,
    paymentUnpublishedTable,
    paymentAnswerTable,
    paymentDraftTable,
    paymentEndTable,
    paymentIdentifierTable,
  ],
  async run(check) {
    if (check.held === null) check.report.notChecked.push('what is held for payments: the home has no payload key');
    for await (const { key, parts, value } of readRows(check, paymentTable)) {
      check.report.count('payments');
      const payment = readKeyParts(parts);
      if (payment === undefined) check.report.problem(paymentTable.name, key, 'is no key of this table');
      else if (value !== undefined) await checkPayment(check, payment, value);
    }
    await checkMarks(check, paymentOpenTable, isOpen, 'is of no open payment');
    await checkMarks(check, paymentUnpublishedTable, isUnpublished, 'is of no payment whose records are to be made');
    await checkEnds(check);
    await checkAnswers(check);
    await checkPrepared(check);
    await checkIdentifiers(check);
  },
};

function isUnpublished({ state }: PaymentRow): boolean {
  return state === 'settled';
}

async function checkPayment(check: Check, key: PaymentKey, row: PaymentRow): Promise<void> {
  const { store, report } = check;
  const fault = rowFault(row);
  if (fault !== null) return report.problem(paymentTable.name, paymentTable.key(...keyParts(key)), fault);
  const require = async (table: Pick<Table<unknown>, 'name' | 'key'>, why: string): Promise<void> => {
    const name = table.key(...keyParts(key));
    if ((await store.get(name)) === undefined) report.problem(table.name, name, `is missing: the payment is ${why}`);
  };
  if (isOpen(row)) {
    report.count('paymentsOpen');
    await require(paymentOpenTable, 'open');
    await require(paymentAnswerTable, 'open');
  }
  if (isUnpublished(row)) {
    report.count('paymentsUnpublished');
    await require(paymentUnpublishedTable, 'not published');
    await require(paymentAnswerTable, 'not published');
  }
  if (isOpen(row) || isUnpublished(row)) await requirePrepared(check, key, row);
  if (row.request === null && (await store.get(paymentAnswerTable.key(...keyParts(key)))) !== undefined) {
    const detail = 'tells no request, and its answer is held';
    report.problem(paymentTable.name, paymentTable.key(...keyParts(key)), detail);
  }
  if (row.state === 'burnt' && row.ends !== null) {
    const name = paymentEndTable.key(row.ends, ...keyParts(key));
    if ((await store.get(name)) === undefined) {
      report.problem(paymentEndTable.name, name, 'is missing: the payment is burnt');
    }
  }
  if (row.settlement !== null && !(await isSettledBy(check, key, row.settlement.seq))) {
    const detail = `is not settled by line ${row.settlement.seq} of the settlement ledger, as it says`;
    report.problem(paymentTable.name, paymentTable.key(...keyParts(key)), detail);
  }
  if (row.identifier !== null) {
    const found = await paymentIdentifierTable.get(store, key.payer, row.identifier).catch(() => undefined);
    if (found === undefined) {
      const name = paymentIdentifierTable.key(key.payer, row.identifier);
      report.problem(paymentIdentifierTable.name, name, `is missing: ${keyText(key)} was made under it`);
    }
  }
}

async function requirePrepared({ store, report }: Check, key: PaymentKey, { drafts }: PaymentRow): Promise<void> {
  for (let place = 0; place < drafts; place++) {
    const name = paymentDraftTable.key(...keyParts(key), place);
    if ((await store.get(name)) === undefined) {
      report.problem(paymentDraftTable.name, name, 'is missing: the record is still to be made');
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

function rowFault(row: PaymentRow): string | null {
  const { state, request, settlement, publication, ends, drafts } = row;
  const isPaid = state === 'settled' || state === 'published';
  if (isPaid !== (settlement !== null)) return `is ${state}, and its settlement says otherwise`;
  const hasEnd = state === 'published' || state === 'burnt';
  if (hasEnd !== (ends !== null)) return `is ${state}, and what is held for it says otherwise`;
  if (request === null && state !== 'published') return `is ${state}, and tells no request`;
  const hasPlace = state === 'published' && drafts > 0;
  return hasPlace === (publication !== null) ? null : `is ${state}, and says otherwise where its records stand`;
}

/** The payment that a row of another table is about; undefined where there is none, or none that reads. */
async function paymentOf({ store }: Check, key: PaymentKey | undefined): Promise<PaymentRow | undefined> {
  return key && paymentTable.get(store, ...keyParts(key)).catch(() => undefined);
}

/** Rows that mark payments of a state. */
async function checkMarks(
  check: Check,
  table: Table<string>,
  isOf: (row: PaymentRow) => boolean,
  otherwise: string,
): Promise<void> {
  for await (const { key, parts } of readRows(check, table)) {
    const row = await paymentOf(check, readKeyParts(parts));
    if (row === undefined || !isOf(row)) check.report.problem(table.name, key, otherwise);
  }
}

/** An end has something to end, and a payment that says when. */
async function checkEnds(check: Check): Promise<void> {
  for await (const { key, parts } of readRows(check, paymentEndTable)) {
    const [end = '', ...rest] = parts;
    const row = await paymentOf(check, readKeyParts(rest));
    if (row?.ends !== Number(end)) {
      check.report.problem(paymentEndTable.name, key, 'is not when what is held for its payment ends');
    } else if (row.state !== 'burnt' && (await check.store.get(paymentAnswerTable.key(...rest))) === undefined) {
      check.report.problem(paymentEndTable.name, key, 'is the end of something that is not there');
    }
  }
}

/** What is held belongs to a payment, and is let go of at a time that is noted, or when it is over. */
async function checkAnswers(check: Check): Promise<void> {
  const { store, report, held } = check;
  for await (const { key, parts, value } of readRows(check, paymentAnswerTable)) {
    report.count('paymentsHeld');
    const row = await paymentOf(check, readKeyParts(parts));
    if (row === undefined || row.state === 'burnt') {
      report.problem(paymentAnswerTable.name, key, 'is held for no payment');
      continue;
    }
    if (row.ends !== null && (await store.get(paymentEndTable.key(row.ends, ...parts))) === undefined) {
      report.problem(paymentAnswerTable.name, key, 'is held without end');
    }
    if (value === undefined || held === null) continue;
    try {
      checkAnswer(held, key, value, row);
    } catch (error) {
      report.problem(paymentAnswerTable.name, key, reasonOf(error));
    }
  }
}

function checkAnswer(held: PaymentCipher, key: string, sealed: Uint8Array, row: PaymentRow): void {
  const value: unknown = JSON.parse(held.open(key, sealed));
  if (!isJsonObject(value)) throw new PaymentDamagedError(`${key} holds no object`);
  const draft = answerDraft(value);
  if (row.state === 'published') completeAnswer(draft, row.publication);
}

/** Records that are prepared: for a payment that may still be settled or is, in no group yet, and whole. */
async function checkPrepared(check: Check): Promise<void> {
  const { store, report } = check;
  for await (const { key, parts, value } of readRows(check, paymentDraftTable)) {
    report.count('recordsPrepared');
    const row = await paymentOf(check, readKeyParts(parts.slice(0, -1)));
    const isDue = row !== undefined && (isOpen(row) || isUnpublished(row)) && Number(parts.at(-1)) < row.drafts;
    if (!isDue) {
      report.problem(paymentDraftTable.name, key, 'is prepared for no payment');
      continue;
    }
    if (value === undefined) continue;
    try {
      const prepared = preparedRow(value);
      if ((await store.get(recordIndex.key(prepared.id))) !== undefined) {
        report.problem(paymentDraftTable.name, key, 'is prepared, and made already');
      }
      const seed = await store.get(preparedKeyTable.key(prepared.id));
      if (seed === undefined) {
        report.problem(preparedKeyTable.name, preparedKeyTable.key(prepared.id), 'is missing: its record is prepared');
      } else checkPayload(check, prepared, seed);
    } catch (error) {
      report.problem(paymentDraftTable.name, key, reasonOf(error));
    }
  }
}

function checkPayload({ cipher }: Check, { id, payloadHash, ciphertext }: PreparedRow, seed: Uint8Array): void {
  if (cipher === null) return;
  const { salt, text } = cipher.open(id, { seed, ciphertext });
  if (commitText(nativeSuite, 'meridian/payload/1', salt, text) === payloadHash) return;
  throw new PaymentDamagedError(`the payload of ${id} is not what it commits to`);
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
