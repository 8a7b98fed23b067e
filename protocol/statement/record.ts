import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, OrdinalShape, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { canonicalText } from './statement.ts';

export const RECORD_KINDS = ['decision'] as const;
export const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export const ENVIRONMENTS = ['production', 'staging', 'test'] as const;

/** `direct` records come from `POST /v1/attest` and wait as `pending`; `tiered` ones wait as `buffered`. */
export const CHANNELS = ['direct', 'tiered'] as const;
export type Channel = (typeof CHANNELS)[number];

const ReferenceDatabaseShape = Closed({
  id: Type.String(),
  version: Type.Optional(Type.String()),
  sha256: Type.Optional(Type.String()),
});

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
});
export type Claims = Static<typeof ClaimsShape>;

/** Ids of other records that this one is about. */
export const LinksShape = Closed({ session: Type.Optional(RecordIdShape) });
export type Links = Static<typeof LinksShape>;

/** The canonical message: all that Meridian signs about one event. Everything else is derived from it. */
export const RecordShape = Closed({
  v: Type.Literal(1),
  id: RecordIdShape,
  kind: Type.Enum([...RECORD_KINDS]),
  node: NodeIdShape,
  /** The node's own gapless counter, from 1. */
  seq: OrdinalShape,
  account: Type.String({ minLength: 1, maxLength: 64 }),
  sourceId: Type.String({ minLength: 1 }),
  /** Gapless counter of the account's source on this node, from 1, and the leaf hash of the record before. */
  sourceSeq: OrdinalShape,
  sourcePrev: Type.Union([Sha256Shape, Type.Null()]),
  submittedAt: TimestampShape,
  payloadHash: Sha256Shape,
  claims: ClaimsShape,
  links: LinksShape,
});
export type AttestationRecord = Static<typeof RecordShape>;

/** Reader and writer of a record's canonical text; its leaf is the RFC 9162 leaf hash of that text's UTF-8 bytes. */
export const recordText = canonicalText('record', RecordShape);
