import { proto } from '@hiero-ledger/proto';
import type { Nanos } from './consensus-time.ts';
import { feeOf } from './fees.ts';
import type { FeeSchedule } from './fees.ts';
import { FEE_ACCOUNT } from './ledger-state.ts';
import type { Draft } from './ledger-state.ts';
import { Refused } from './refused.ts';
import type { TransactionRow, Transfer } from './rows.ts';
import { submitMessage } from './submit-message.ts';
import { createTopic, deleteTopic, updateTopic } from './topic-operations.ts';
import type { SignedTransaction } from './transaction.ts';
import { accountNumber, fromLong } from './wire.ts';

const Code = proto.ResponseCodeEnum;

/**
 * Carries out a transaction at its consensus time. The fee is kept even when the operation fails; an operation that
 * fails changes nothing else, because each checks everything before its first change.
 *
 * @returns the row to store, already added to the draft
 */
export function execute(
  draft: Draft,
  transaction: SignedTransaction,
  at: Nanos,
  schedule: FeeSchedule,
): TransactionRow {
  const row: TransactionRow = {
    at,
    id: transaction.id,
    status: Code.SUCCESS,
    fee: 0n,
    transfers: [],
    entity: null,
    created: null,
    message: null,
    signed: transaction.bytes,
  };
  try {
    charge(draft, transaction, row, schedule);
    operate(draft, transaction, row);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    row.status = error.code;
  }
  draft.transactions.push(row);
  draft.head.transactions += 1;
  draft.head.lastConsensus = at;
  return row;
}

function charge(draft: Draft, transaction: SignedTransaction, row: TransactionRow, schedule: FeeSchedule): void {
  if (transaction.validStart + transaction.validFor < row.at) throw new Refused(Code.TRANSACTION_EXPIRED);
  const fee = feeOf(schedule, transaction);
  const payer = draft.account(transaction.payer);
  if (!payer || payer.balance < fee.total) throw new Refused(Code.INSUFFICIENT_PAYER_BALANCE);
  row.fee = fee.total;
  move(draft, row, [
    { account: transaction.node, amount: fee.node },
    { account: FEE_ACCOUNT, amount: fee.total - fee.node },
    { account: transaction.payer, amount: -fee.total },
  ]);
}

function operate(draft: Draft, transaction: SignedTransaction, row: TransactionRow): void {
  const { operation, signatures } = transaction;
  switch (operation.kind) {
    case 'createTopic':
      return createTopic(draft, operation.body, signatures, row);
    case 'updateTopic':
      return updateTopic(draft, operation.body, signatures, row);
    case 'deleteTopic':
      return deleteTopic(draft, operation.body, signatures, row);
    case 'submitMessage':
      return submitMessage(draft, operation.body, transaction, row);
    case 'transfer':
      return transfer(draft, operation.body, transaction, row);
  }
}

function transfer(
  draft: Draft,
  body: proto.ICryptoTransferTransactionBody,
  { signatures }: SignedTransaction,
  row: TransactionRow,
): void {
  const transfers: Transfer[] = (body.transfers?.accountAmounts ?? []).map(({ accountID, amount }) => ({
    account: accountNumber(accountID) ?? 0n,
    amount: fromLong(amount),
  }));
  for (const { account: num, amount } of transfers) {
    const account = draft.account(num);
    if (!account) throw new Refused(Code.INVALID_ACCOUNT_ID);
    if (amount >= 0n) continue;
    if (!account.key || !signatures.satisfy(proto.Key.decode(account.key))) throw new Refused(Code.INVALID_SIGNATURE);
    if (account.balance + amount < 0n) throw new Refused(Code.INSUFFICIENT_ACCOUNT_BALANCE);
  }
  move(draft, row, transfers);
}

/** Moves amounts between existing accounts and notes them in the row. */
function move(draft: Draft, row: TransactionRow, transfers: readonly Transfer[]): void {
  for (const { account: num, amount } of transfers) {
    const account = draft.account(num);
    if (!account) throw new Error(`account ${num} is missing from the ledger`);
    account.balance += amount;
  }
  row.transfers.push(...transfers);
}
