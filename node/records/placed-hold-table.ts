import { isAccountId } from '../../protocol/accounts/account-id.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { Table, textCodec } from '../store/table.ts';
import type { Projection } from './projection.ts';
import { sourceKey } from './sources/sources.ts';

/**
 * (account, source key, node that made it, its seq) → retention lock with a legal hold, released or not. Of the records
 * of every node, as they are signed: whether a node has a say in the account is for anyone who reads it.
 */
export const placedHoldTable = new Table('placed-hold', textCodec);

export const placedHoldProjection: Projection = {
  table: placedHoldTable,
  rowsOf: ({ id, kind, account, sourceId, claims, node, seq }: AttestationRecord) =>
    kind === 'retention_lock' && claims.legalHold === true && isAccountId(account)
      ? [placedHoldTable.put([account, sourceKey(sourceId), node, seq], id)]
      : [],
};
