import type { RecordId } from '../../../protocol/ids.ts';
import type { Blank } from '../../payments/answer-draft.ts';
import type { PreparedRecord } from '../../payments/paid-recording.ts';

/** Where a record can be verified, by anyone. */
export type VerifyUrl = (id: RecordId) => string;

/** Of the member `attestation`, what is known once the record is made. */
export const ATTESTATION_BLANKS: readonly Blank[] = [
  { at: ['attestation', 'submittedAt'], is: 'submittedAt' },
  { at: ['attestation', 'anchorExpectedBy'], is: 'anchorExpectedBy' },
];

/** The member `attestation` of a paid answer (DOMAIN §3.3): the record that is made of it once it is paid. */
export function attestationTail({ id, payloadHash }: PreparedRecord, verifyUrl: VerifyUrl) {
  return {
    attestationId: id,
    status: 'buffered',
    payloadHash,
    signatureAlgorithm: 'ML-DSA-65',
    submittedAt: null,
    anchorExpectedBy: null,
    verifyUrl: verifyUrl(id),
  } as const;
}
