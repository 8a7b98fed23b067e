import Type, { type Static } from 'typebox';
import { AuditEntryShape } from '../audit/entry.ts';
import { Closed, CursorShape, OrdinalShape, OrNull, Sha256Shape } from '../shapes.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { TimeOrDayShape } from './times.ts';

const AUDIT_ORDERS = ['newest', 'oldest'] as const;
/** `jsonl`: the lines that were hashed, so it can be checked offline. `csv`: for reading. */
export const AUDIT_EXPORT_FORMATS = ['jsonl', 'csv'] as const;
export type AuditExportFormat = (typeof AUDIT_EXPORT_FORMATS)[number];

/** Entries of one page, where none is asked for and at most. */
export const DEFAULT_AUDIT_PAGE = 100;
export const MAX_AUDIT_PAGE = 500;

/** `GET /v1/audit-log`. `from` is included, `to` is not; a day is its first moment. */
export const AuditLogQueryShape = Closed({
  from: Type.Optional(TimeOrDayShape),
  to: Type.Optional(TimeOrDayShape),
  order: Type.Optional(Type.Enum([...AUDIT_ORDERS])),
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_AUDIT_PAGE })),
});

/** `GET /v1/audit-log/export`. */
export const AuditExportQueryShape = Closed({
  format: Type.Optional(Type.Enum([...AUDIT_EXPORT_FORMATS])),
  from: Type.Optional(TimeOrDayShape),
  to: Type.Optional(TimeOrDayShape),
});

const { action, address, at, by, requestId, seq, status, subject } = AuditEntryShape.properties;

/** One page of an account's key-use log. */
export const AuditLogAnswerShape = Closed({
  success: Type.Literal(true),
  account: Type.String(),
  entries: Type.Array(
    Closed({
      seq,
      at,
      by,
      action,
      status,
      subject,
      address,
      requestId,
      /** With the action `entries.lost`: how many. */
      lost: OrNull(OrdinalShape),
      /** Hash of the entry before, and of this one. */
      prev: Sha256Shape,
      hash: Sha256Shape,
    }),
    { maxItems: MAX_AUDIT_PAGE },
  ),
  /** Null on the last page. */
  nextCursor: OrNull(Type.String()),
});
export type AuditLogAnswer = Static<typeof AuditLogAnswerShape>;

export const AUDIT_LOG_EXAMPLE = {
  success: true,
  account: 'acc_eu_example',
  entries: [
    {
      seq: 2,
      at: EXAMPLE_SUBMITTED_AT,
      by: EXAMPLE_IDS.key,
      action: 'POST /v1/attest',
      status: 200,
      subject: EXAMPLE_IDS.decision,
      address: '203.0.113.7',
      requestId: 'req_5f0c3d0e-6b5f-4f0e-9a53-0f8f0d6a2f11',
      lost: null,
      prev: EXAMPLE_HASH,
      hash: 'sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
    },
  ],
  nextCursor: null,
} as const;
