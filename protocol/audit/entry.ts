import Type, { type Static } from 'typebox';
import { Closed, OrdinalShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { canonicalText } from '../statement/statement.ts';

/** Code points of the members of an entry. What is longer is cut before it is written. */
export const MAX_BY = 64;
export const MAX_ACTION = 128;
export const MAX_SUBJECT = 128;
export const MAX_ADDRESS = 64;
export const MAX_REQUEST_ID = 64;

/** Action of an entry that stands for entries which could not be kept. */
export const ENTRIES_LOST = 'entries.lost';

/** One use of an API key or a link, or one change of an account or its keys: who, what, when, from where, with what result. */
export const AuditEntryShape = Closed({
  /** `POST /v1/attest`, the pattern of a route; or `key.created`, `key.rotated`, `tier.changed`… */
  action: Type.String({ minLength: 1, maxLength: MAX_ACTION }),
  /** Internet address of the caller; null where nobody called over the network. */
  address: Type.Union([Type.String({ maxLength: MAX_ADDRESS }), Type.Null()]),
  /** Never before the entry before it. */
  at: TimestampShape,
  /** Id of the API key or of the link that shares, or `operator`, `sign-up`, `lost-key` or `node`. */
  by: Type.String({ minLength: 1, maxLength: MAX_BY }),
  /** With the action `entries.lost`: how many. */
  lost: Type.Optional(OrdinalShape),
  requestId: Type.Union([Type.String({ maxLength: MAX_REQUEST_ID }), Type.Null()]),
  /** Gapless counter of the account's log, from 1. */
  seq: OrdinalShape,
  /** HTTP status that was answered; null where it was no request. */
  status: Type.Union([Type.Integer({ minimum: 100, maximum: 599 }), Type.Null()]),
  /** Id of the record, key, link or account that it is about. */
  subject: Type.Union([Type.String({ maxLength: MAX_SUBJECT }), Type.Null()]),
  v: Type.Literal(1),
});
export type AuditEntry = Static<typeof AuditEntryShape>;

/** What happened, before the log gives it its place and time. */
export type AuditFacts = Omit<AuditEntry, 'v' | 'seq' | 'at'>;

const AuditLineShape = Closed({ entry: AuditEntryShape, prev: Sha256Shape });
/** An entry and the hash of the line before it: what is hashed, stored and exported, one to a line. */
export type AuditLine = Static<typeof AuditLineShape>;

/** Reader and writer of a line's canonical text. Its hash is SHA-256 of that text. */
export const auditLine = canonicalText('audit line', AuditLineShape);
