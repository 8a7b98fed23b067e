import Type, { type Static } from 'typebox';
import {
  Base64urlShape,
  Closed,
  CountShape,
  NodeIdShape,
  OrdinalShape,
  RecordIdShape,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { AssertedShape, PSEUDONYM_PATTERN } from './asserted.ts';
import {
  ACTION_STATUSES,
  CHANNELS,
  CUSTODIES,
  ENVIRONMENTS,
  EVENT_SCOPE_PATTERN,
  type EventScope,
  FACTS,
  INCIDENT_CRITERIA,
  KEY_EVENTS,
  LOCK_SCOPES,
  REVIEW_OUTCOMES,
  SEVERITIES,
  VERDICTS,
} from '../statement/vocabulary.ts';

const ReferenceDatabaseShape = Closed({
  id: Type.String(),
  version: Type.Optional(Type.String()),
  sha256: Type.Optional(Type.String()),
});

/** `event:` and an event type. */
export const EventScopeShape = Type.Unsafe<EventScope>(
  Type.String({ title: 'EventScope', pattern: EVENT_SCOPE_PATTERN }),
);
/** One scope of a retention lock. */
export const LockScopeShape = Type.Union([Type.Enum([...LOCK_SCOPES]), EventScopeShape]);

/** As many as a roster has members at most. */
const MAX_ACCOUNT_NODES = 256;

/** The facts that the evidence rules read. They survive erasure of the payload, so none of them is personal data. */
export const ClaimsShape = Closed({
  channel: Type.Enum([...CHANNELS]),
  eventType: Type.Optional(Type.String()),
  modelId: Type.Optional(Type.String()),
  modelVersion: Type.Optional(Type.String()),
  thirdPartyModel: Type.Optional(Type.Boolean()),
  systemId: Type.Optional(Type.String()),
  riskLevel: Type.Optional(Type.String()),
  confidenceScore: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  environment: Type.Optional(Type.Enum([...ENVIRONMENTS])),
  jurisdiction: Type.Optional(Type.Array(Type.String())),
  referenceDatabase: Type.Optional(Type.Array(ReferenceDatabaseShape)),
  matched: Type.Optional(Type.Boolean()),
  dataHash: Type.Optional(Sha256Shape),
  inputHash: Type.Optional(Sha256Shape),
  outputHash: Type.Optional(Sha256Shape),

  /** With the event `NOT_APPLICABLE`: the clause that the caller holds not to concern its source. */
  framework: Type.Optional(Type.String()),
  clause: Type.Optional(Type.String()),

  /** Names of the documented request members that were given, sorted: what a record of governance has on file. */
  given: Type.Optional(Type.Array(Type.String())),

  /** What the caller asserts beside the facts above: read by the rules of `evidence-rules/2` alone. */
  asserted: Type.Optional(AssertedShape),

  /** The agent that a record is about or was made for, and its signature over the `agent` statement. */
  agentId: Type.Optional(Type.String()),
  agentKeyId: Type.Optional(Sha256Shape),
  agentPublicKey: Type.Optional(Base64urlShape),
  agentSignature: Type.Optional(Base64urlShape),
  custody: Type.Optional(Type.Enum([...CUSTODIES])),

  /** End of a session: decisions as the caller counted them, and as the node did. */
  decisionCount: Type.Optional(CountShape),
  recordedDecisionCount: Type.Optional(CountShape),

  reviewer: Type.Optional(Type.String({ pattern: PSEUDONYM_PATTERN })),
  reviewOutcome: Type.Optional(Type.Enum([...REVIEW_OUTCOMES])),

  severity: Type.Optional(Type.Enum([...SEVERITIES])),
  criteria: Type.Optional(Type.Array(Type.Enum([...INCIDENT_CRITERIA]))),
  clockStart: Type.Optional(TimestampShape),
  notificationDueAt: Type.Optional(TimestampShape),

  retentionDays: Type.Optional(OrdinalShape),
  scope: Type.Optional(Type.Array(LockScopeShape)),
  legalHold: Type.Optional(Type.Boolean()),

  residualRisk: Type.Optional(Type.String()),
  overallRating: Type.Optional(Type.String()),
  actionStatus: Type.Optional(Type.Enum([...ACTION_STATUSES])),
  /** Of a corrective action, from 1. */
  revision: Type.Optional(OrdinalShape),

  keyEvent: Type.Optional(Type.Enum([...KEY_EVENTS])),
  /** UTC day, entries and head of an account's key-use log, or of the node's settlement ledger. */
  auditDay: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })),
  auditEntries: Type.Optional(CountShape),
  auditHead: Type.Optional(Sha256Shape),

  /** SHA-256 of the manifest of a pack of evidence. */
  packManifest: Type.Optional(Sha256Shape),

  /** Of evidence that this node gathered itself: what it came to, and what it was gathered from and with. */
  verdict: Type.Optional(Type.Enum([...VERDICTS])),
  fact: Type.Optional(Type.Enum([...FACTS])),
  observedAt: Type.Optional(TimestampShape),
  /** SHA-256 of the bytes that a source gave. */
  rawHash: Type.Optional(Sha256Shape),
  modelDigest: Type.Optional(Sha256Shape),
  parametersHash: Type.Optional(Sha256Shape),
  /** Item of the regulatory feed; every revision of it has the same. */
  itemId: Type.Optional(Type.String()),

  /** Of an account: the members that its keys are given to, and the version of its statement. */
  nodes: Type.Optional(Type.Array(NodeIdShape, { minItems: 1, maxItems: MAX_ACCOUNT_NODES })),
  version: Type.Optional(OrdinalShape),
});
export type Claims = Static<typeof ClaimsShape>;

/** Most records that one link member names. */
export const MAX_LINKED = 100;
const ManyIds = Type.Array(RecordIdShape, { minItems: 1, maxItems: MAX_LINKED });

/** Ids of other records that this one is about. */
export const LinksShape = Closed({
  /** The registration or rotation that made the agent's key known. */
  agent: Type.Optional(RecordIdShape),
  /** First revision of the corrective action that this is a further step of. */
  correctiveAction: Type.Optional(RecordIdShape),
  /** The decision that a notice, a request or an evaluation is about. */
  decision: Type.Optional(RecordIdShape),
  erased: Type.Optional(ManyIds),
  incident: Type.Optional(RecordIdShape),
  /** The retention lock whose legal hold this releases. */
  lock: Type.Optional(RecordIdShape),
  /** The record that a human looked at again. */
  original: Type.Optional(RecordIdShape),
  related: Type.Optional(ManyIds),
  session: Type.Optional(RecordIdShape),
  supersedes: Type.Optional(RecordIdShape),
});
export type Links = Static<typeof LinksShape>;
