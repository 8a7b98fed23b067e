import Type, { type TProperties } from 'typebox';
import { USDC } from '../payments/usdc.ts';
import { Closed, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { StatusShape } from './envelope.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/** The record that a paid answer was attested by (api-rules §4.1). */
const AttestationShape = Closed(
  {
    attestationId: RecordIdShape,
    status: StatusShape,
    payloadHash: Sha256Shape,
    signatureAlgorithm: Type.Literal('ML-DSA-65'),
    submittedAt: TimestampShape,
    anchorExpectedBy: TimestampShape,
    verifyUrl: Type.String(),
  },
  { title: 'PaidAttestation' },
);

/** What was paid: dollars, and the transaction that moved them. */
const PaymentShape = Closed(
  {
    amount: Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]{1,6})?$' }),
    asset: Type.Literal(USDC.asset),
    network: Type.Literal(USDC.network),
    payer: Type.String({ pattern: '^0x[0-9a-f]{40}$' }),
    transaction: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
  },
  { title: 'Payment' },
);

/** An answer that was paid for: its own members, and the tail that all such answers have. */
export function PaidShape<Members extends TProperties>(members: Members) {
  return Closed({
    success: Type.Literal(true),
    ...members,
    attestation: AttestationShape,
    payment: PaymentShape,
  });
}

export const ATTESTATION_EXAMPLE = {
  attestationId: EXAMPLE_IDS.decision,
  status: 'buffered',
  payloadHash: EXAMPLE_HASH,
  signatureAlgorithm: 'ML-DSA-65',
  submittedAt: EXAMPLE_SUBMITTED_AT,
  anchorExpectedBy: '2026-11-21T09:31:00.000Z',
  verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.decision}`,
} as const;

/** The tail of an example, for a price in dollars. */
export function paidTailExample(amount: string) {
  return {
    attestation: ATTESTATION_EXAMPLE,
    payment: {
      amount,
      asset: USDC.asset,
      network: USDC.network,
      payer: '0x2222222222222222222222222222222222222222',
      transaction: `0x${'3'.repeat(64)}`,
    },
  };
}
