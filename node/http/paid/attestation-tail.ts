import type { RecordId } from '../../../protocol/ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { anchorExpectedBy } from '../../attestation/anchoring-promise.ts';

/** Where a record can be verified, by anyone. */
export type VerifyUrl = (id: RecordId) => string;

/** Tier that paid calls are promised anchoring by: within 60 s (SPEC §8). */
const PROMISED_AS = 'standard';

/** The member `attestation` of a paid answer (DOMAIN §3.3): the record that was made of it a moment ago. */
export function attestationTail(record: AttestationRecord, verifyUrl: VerifyUrl) {
  return {
    attestationId: record.id,
    status: 'buffered',
    payloadHash: record.payloadHash,
    signatureAlgorithm: 'ML-DSA-65',
    submittedAt: record.submittedAt,
    anchorExpectedBy: timestampOf(anchorExpectedBy(record, PROMISED_AS)),
    verifyUrl: verifyUrl(record.id),
  } as const;
}
