import Type, { type Static } from 'typebox';
import { SERVICES } from '../payments/prices.ts';
import {
  Base64urlShape,
  Closed,
  ConsensusTimestampShape,
  NodeIdShape,
  OrNull,
  RecordIdShape,
  TimestampShape,
} from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { WarningsShape } from './envelope.ts';
import { TextShape } from './fields.ts';
import { EXAMPLE_CONSENSUS, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { STATUSES } from './verdict.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';

/** Checks that a verdict rests on, in the order of api-rules §4.1: M1 to M6. */
export const MANDATORY_CHECKS = [
  'record-proof',
  'ledger-message',
  'consensus-time',
  'signing-keys',
  'source-sequence',
  'other-node',
] as const;
/** O1 to O5: told, and never part of the verdict. */
export const OPTIONAL_CHECKS = [
  'linked-records',
  'retention-lock',
  'duplicate-request',
  'anchoring-delay',
  'signature-algorithm',
] as const;

export type MandatoryCheck = (typeof MANDATORY_CHECKS)[number];
export type OptionalCheck = (typeof OPTIONAL_CHECKS)[number];

export const CHECK_RESULTS = ['pass', 'fail', 'skipped'] as const;
export type CheckResult = (typeof CHECK_RESULTS)[number];

/** `POST /v1/x402/verify-audit`. */
export const VerifyAuditRequestShape = Closed({ attestationId: TextShape(1, 64) });

const CheckShape = Closed(
  {
    name: Type.Enum([...MANDATORY_CHECKS, ...OPTIONAL_CHECKS]),
    result: Type.Enum([...CHECK_RESULTS]),
    mandatory: Type.Boolean(),
    detail: Type.String(),
  },
  { title: 'AuditCheck' },
);
export type AuditCheck = Static<typeof CheckShape>;

const SubjectShape = Closed(
  {
    recordKind: OrNull(Type.Enum([...RECORD_KINDS])),
    status: OrNull(Type.Enum([...STATUSES])),
    submittedAt: OrNull(TimestampShape),
    /** As the mirror tells it, or else as this node read it before. */
    consensusTimestamp: OrNull(ConsensusTimestampShape),
  },
  { title: 'AuditSubject' },
);

const AUDIT = {
  attestationId: RecordIdShape,
  auditedAt: TimestampShape,
  auditorNode: NodeIdShape,
  checks: Type.Array(CheckShape),
  summary: Type.String(),
  subject: SubjectShape,
};

/** What an audit found: the payload of its record. */
const AuditShape = Closed({ verdict: Type.Enum(['pass', 'fail', 'inconclusive']), ...AUDIT });
export type Audit = Static<typeof AuditShape>;

/** An audit that comes to nothing is not charged, and not recorded. */
export const VerifyAuditShape = Type.Union([
  PaidShape({ verdict: Type.Enum(['pass', 'fail']), ...AUDIT, salt: Base64urlShape, warnings: WarningsShape }),
  Closed({
    success: Type.Literal(true),
    verdict: Type.Literal('inconclusive'),
    ...AUDIT,
    warnings: WarningsShape,
    charged: Type.Literal(false),
  }),
]);

export const VERIFY_AUDIT_EXAMPLE = {
  success: true,
  verdict: 'pass',
  attestationId: EXAMPLE_IDS.decision,
  auditedAt: '2026-11-21T09:41:00.000Z',
  auditorNode: 'us',
  checks: [
    {
      name: 'record-proof',
      result: 'pass',
      mandatory: true,
      detail: 'leaf, proofs, binding and signatures hold; the payload was not at hand (withheld)',
    },
    {
      name: 'other-node',
      result: 'pass',
      mandatory: true,
      detail: 'the same by ca, eu, jp',
    },
  ],
  summary: 'All 6 mandatory checks pass.',
  subject: {
    recordKind: 'decision',
    status: 'confirmed',
    submittedAt: EXAMPLE_SUBMITTED_AT,
    consensusTimestamp: EXAMPLE_CONSENSUS.timestamp,
  },
  salt: 'A'.repeat(43),
  warnings: [],
  ...paidTailExample(SERVICES['verify-audit'].usd),
} as const;
