import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Tier } from '../../accounts/accounts.ts';

/** Time within which a record's root is promised to be on the ledger (SPEC §8). In milliseconds. */
const DEVELOPER_PROMISE_MS = 90_000;
export const PROMISE_MS = 60_000;

/** When the root of a record is promised to be on the ledger, in epoch milliseconds. The tier unknown: the longest. */
export function anchorExpectedBy({ submittedAt }: Pick<AttestationRecord, 'submittedAt'>, tier?: Tier): number {
  const promise = tier === undefined || tier === 'developer' ? DEVELOPER_PROMISE_MS : PROMISE_MS;
  return Date.parse(submittedAt) + promise;
}
