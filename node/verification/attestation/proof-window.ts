import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Tier } from '../../accounts/accounts.ts';

/** How long the Developer tier is served lists, proofs and exports of a record (SPEC §8, DOMAIN §5.6). In milliseconds. */
export const PROOF_WINDOW_MS = 7 * 24 * 3_600_000;

/** When the account's hosted proofs of a record end, in epoch milliseconds; null: never. Public verification never does. */
export function proofWindowEndsAt({ submittedAt }: Pick<AttestationRecord, 'submittedAt'>, tier: Tier): number | null {
  return tier === 'developer' ? Date.parse(submittedAt) + PROOF_WINDOW_MS : null;
}

/** The earliest `submittedAt` that the account is still served, in epoch milliseconds; null: all that there is. */
export function proofWindowOpensAt(tier: Tier, now: number): number | null {
  return tier === 'developer' ? now - PROOF_WINDOW_MS + 1 : null;
}
