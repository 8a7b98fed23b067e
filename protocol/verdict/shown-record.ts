import type { AttestationRecord } from '../chain/record.ts';
import type { Facts } from './facts.ts';
import type { OpenedProof } from './opened-proof.ts';

/** The whole record of a proof; null where its body is not carried, or does not read. */
export function recordOf({ head, body }: OpenedProof): AttestationRecord | null {
  return head && body && { ...head, ...body };
}

/**
 * Whether a proof shows that its node made the record: it is signed, and sealed and decided as far as it says so, under
 * rosters that are in force. It need not be on the ledger yet: its node's signature makes it evidence.
 */
export function showsRecord({ signed, sealed, decision, contradicted, payload, rosters }: Facts): boolean {
  return (
    signed === 'holds' &&
    (sealed === null || sealed === 'holds') &&
    (decision === 'absent' || decision === 'fits') &&
    !contradicted &&
    payload !== 'damaged' &&
    rosters === 'in-force'
  );
}
