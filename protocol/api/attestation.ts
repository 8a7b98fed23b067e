import Type, { type Static } from 'typebox';
import { ClaimsShape, LinksShape } from '../chain/claims.ts';
import { Closed, NodeIdShape, OrdinalShape, RecordIdShape, TimestampShape } from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { DisclosureShape } from '../verdict/bundle.ts';
import { StatusShape } from './envelope.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/** `GET /v1/attestations/:id`. */
export const AttestationQueryShape = Closed({ payload: Type.Optional(Type.Enum(['0', '1'])) });

/** Where the content of a record is. */
export const PAYLOAD_PLACES = ['available', 'erased', 'elsewhere'] as const;

/** One record of the account, as it is signed. */
export const AttestationAnswerShape = Closed({
  success: Type.Literal(true),
  attestationId: RecordIdShape,
  recordKind: Type.Enum([...RECORD_KINDS]),
  /** The node that made it. */
  node: NodeIdShape,
  sourceId: Type.String(),
  sourceSeq: OrdinalShape,
  submittedAt: TimestampShape,
  /** Anchoring status. */
  status: StatusShape,
  /** What is signed of it in clear, persons under pseudonyms. */
  claims: Closed(ClaimsShape.properties, { title: 'RecordClaims' }),
  /** Records that it links to. */
  links: Closed(LinksShape.properties, { title: 'RecordLinks' }),
  payloadState: Type.Enum([...PAYLOAD_PLACES]),
  /** The content, where it was asked for and is there; null otherwise. */
  payload: DisclosureShape.properties.payload,
});
export type AttestationAnswer = Static<typeof AttestationAnswerShape>;

export const ATTESTATION_EXAMPLE = {
  success: true,
  attestationId: EXAMPLE_IDS.decision,
  recordKind: 'decision',
  node: 'eu',
  sourceId: EXAMPLE_IDS.source,
  sourceSeq: 1042,
  submittedAt: EXAMPLE_SUBMITTED_AT,
  status: 'confirmed',
  claims: { channel: 'direct', eventType: 'DECISION', dataHash: EXAMPLE_HASH },
  links: {},
  payloadState: 'available',
  payload: null,
} as const;
