import { proto } from '@hiero-ledger/proto';
import { RUNNING_HASH_VERSION } from '../../protocol/ledger/running-hash.ts';
import { SECOND } from './consensus-time.ts';
import type { Nanos } from './consensus-time.ts';
import { exchangeRates } from './exchange-rates.ts';
import type { Ledger } from './ledger.ts';
import { Refused } from './refused.ts';
import type { TransactionRow } from './rows.ts';
import { numberKey } from './table.ts';
import { parseSignedTransaction } from './transaction.ts';
import { accountId, timestamp, toLong, topicId } from './wire.ts';

/** How long a node remembers a receipt or a record after consensus. */
const RECEIPT_LIFE: Nanos = 180n * SECOND;

const Code = proto.ResponseCodeEnum;

/**
 * The receipt of a transaction: status UNKNOWN while it waits for consensus.
 *
 * @throws Refused RECEIPT_NOT_FOUND if the node never took it or has forgotten it
 */
export async function receiptOf(ledger: Ledger, id: string | null): Promise<proto.ITransactionReceipt> {
  if (ledger.faults.strikes('receiptUnavailable')) return { status: Code.UNKNOWN };
  const row = id === null ? undefined : await recentTransaction(ledger, id);
  if (row) return receipt(ledger, row);
  if (id !== null && ledger.accepted.isWaiting(id)) return { status: Code.UNKNOWN };
  throw new Refused(Code.RECEIPT_NOT_FOUND);
}

/** The record of a transaction. Throws Refused RECORD_NOT_FOUND until it has reached consensus, and after 180 s. */
export async function recordOf(ledger: Ledger, id: string | null): Promise<proto.ITransactionRecord> {
  const row = id === null ? undefined : await recentTransaction(ledger, id);
  if (!row) throw new Refused(Code.RECORD_NOT_FOUND);
  const { body, hash } = parseSignedTransaction(row.signed);
  return {
    receipt: receipt(ledger, row),
    transactionHash: hash,
    consensusTimestamp: timestamp(row.at),
    transactionID: body.transactionID ?? null,
    memo: body.memo ?? '',
    transactionFee: toLong(row.fee),
    transferList: {
      accountAmounts: row.transfers.map(({ account, amount }) => ({
        accountID: accountId(account),
        amount: toLong(amount),
      })),
    },
  };
}

async function recentTransaction(ledger: Ledger, id: string): Promise<TransactionRow | undefined> {
  if (ledger.accepted.isWaiting(id)) return undefined;
  const at = await ledger.store.timesById.get(id);
  if (at === undefined || at + RECEIPT_LIFE < ledger.now()) return undefined;
  return ledger.store.transactions.get(numberKey(at));
}

function receipt(ledger: Ledger, row: TransactionRow): proto.ITransactionReceipt {
  const { current, next } = exchangeRates(ledger.fees, row.at);
  const rate = { hbarEquiv: current.hbars, centEquiv: current.cents };
  return {
    status: row.status,
    exchangeRate: {
      currentRate: { ...rate, expirationTime: { seconds: toLong(current.expires) } },
      nextRate: { ...rate, expirationTime: { seconds: toLong(next.expires) } },
    },
    ...(row.created === null ? {} : { topicID: topicId(row.created) }),
    ...(row.message === null
      ? {}
      : {
          topicSequenceNumber: toLong(row.message.sequence),
          topicRunningHash: row.message.runningHash,
          topicRunningHashVersion: toLong(BigInt(RUNNING_HASH_VERSION)),
        }),
  };
}
