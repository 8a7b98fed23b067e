import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Hash,
  type PublicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem';

/** In milliseconds. */
const LOOK_MS = 10;
const WAIT_MS = 60_000;

/**
 * The receipt of a transaction, once it is mined. viem's own wait asks again with each new block alone: where a receipt
 * shows a moment after its block, and no other block comes, it waits in vain. Throws what viem throws, in time.
 */
export async function receiptOf(
  client: Pick<PublicActions, 'getTransactionReceipt'>,
  hash: Hash,
  waitMs = WAIT_MS,
): Promise<TransactionReceipt> {
  for (const end = performance.now() + waitMs; ; await sleep(LOOK_MS)) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
      if (performance.now() > end) throw new WaitForTransactionReceiptTimeoutError({ hash });
    }
  }
}
