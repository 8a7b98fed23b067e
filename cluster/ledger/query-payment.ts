import { proto } from '@hiero-ledger/proto';
import type { Ledger } from './ledger.ts';
import { readTransaction } from './precheck.ts';
import { Refused } from './refused.ts';
import { accountNumber, fromLong } from './wire.ts';

const Code = proto.ResponseCodeEnum;

/**
 * Takes the transfer attached to a paid query. It reaches consensus like any other, after the query is answered.
 *
 * @param cost tinybars that the node must be given
 * @throws Refused with the precheck code
 */
export function takePayment(
  ledger: Ledger,
  node: bigint,
  payment: proto.ITransaction | null | undefined,
  cost: bigint,
): void {
  const bytes = payment ? proto.Transaction.encode(payment).finish() : new Uint8Array();
  const { operation } = readTransaction(bytes);
  if (operation.kind !== 'transfer') throw new Refused(Code.INVALID_TRANSACTION);
  const amounts = operation.body.transfers?.accountAmounts ?? [];
  const paid = amounts.find(({ accountID }) => accountNumber(accountID) === node);
  if (fromLong(paid?.amount) < cost) throw new Refused(Code.INSUFFICIENT_TX_FEE, cost);
  ledger.submit(bytes, node);
}
