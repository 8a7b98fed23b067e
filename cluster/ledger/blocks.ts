import { createHash } from 'node:crypto';
import type { HeadRow, BlockRow, TransactionRow } from './rows.ts';
import { encodeRow } from './row-encoding.ts';

/** The block of one round. It covers every byte of its transactions' rows and, through `previous`, all before them. */
export function blockOf(head: HeadRow, transactions: readonly TransactionRow[]): BlockRow {
  const first = transactions[0];
  const last = transactions.at(-1);
  if (!first || !last) throw new Error('a block has at least one transaction');
  return {
    number: head.blocks,
    from: first.at,
    to: last.at,
    count: transactions.length,
    hash: hashOf(head.blockHash, transactions),
    previous: head.blockHash,
  };
}

function hashOf(previous: Uint8Array, transactions: readonly TransactionRow[]): Uint8Array {
  const hash = createHash('sha384').update(previous);
  for (const row of transactions) hash.update(createHash('sha384').update(encodeRow(row)).digest());
  return hash.digest();
}
