import Type, { type Static } from 'typebox';
import { RECORD_ID_PATTERN } from '../ids.ts';
import type { JsonObject } from '../json/value.ts';
import { Base64urlShape, Closed, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { CUSTODIES } from '../statement/vocabulary.ts';
import { AgentIdShape, OWN_KEY_CONDITIONS, PublicKeyTextShape, SignatureTextShape } from './agent-fields.ts';
import { StatusShape, WarningsShape } from './envelope.ts';
import { TextShape } from './fields.ts';

const MetadataShape = Type.Unsafe<JsonObject>(
  Type.Object({}, { title: 'AgentMetadata', description: 'Whatever the owner noted.', additionalProperties: true }),
);
const ReasonShape = TextShape(0, 1000);

/** `POST /v1/agents/register`. With `publicKey` the agent holds its own key, else the node makes one and holds it. */
export const RegisterAgentRequestShape = Type.Object(
  {
    agentId: AgentIdShape,
    displayName: TextShape(1, 200),
    jurisdiction: TextShape(1, 64),
    permittedUses: Type.Array(TextShape(0, 200), { minItems: 1, maxItems: 50 }),
    metadata: Type.Optional(MetadataShape),
    publicKey: Type.Optional(PublicKeyTextShape),
    /** By the key's private half, over the `agent-proof` statement. */
    proofOfPossession: Type.Optional(SignatureTextShape),
  },
  OWN_KEY_CONDITIONS,
);

/** `POST /v1/agents/:agentId/rotate`. The key is brought where the agent holds its own, else made. */
export const RotateAgentRequestShape = Type.Object(
  {
    publicKey: Type.Optional(PublicKeyTextShape),
    proofOfPossession: Type.Optional(SignatureTextShape),
    /** By the key before, over the same statement. */
    previousKeySignature: Type.Optional(SignatureTextShape),
    reason: Type.Optional(ReasonShape),
  },
  OWN_KEY_CONDITIONS,
);

/** `POST /v1/agents/:agentId/deactivate`. */
export const DeactivateAgentRequestShape = Type.Object({ reason: Type.Optional(ReasonShape) });

const IDENTITY_MEMBERS = {
  success: Type.Literal(true),
  registrationId: Type.String({ pattern: RECORD_ID_PATTERN }),
  agentId: Type.String(),
  did: Type.String(),
  didDocumentUrl: Type.String(),
};
const KEY_MEMBERS = {
  publicKey: Base64urlShape,
  publicKeyEncoding: Type.Literal('base64url'),
  keyId: Sha256Shape,
  algorithm: Type.Literal('ML-DSA-65'),
  custody: Type.Enum([...CUSTODIES]),
};
/** The record of what was done, and the anchoring status that it has. */
const RECORD_MEMBERS = { attestationId: RecordIdShape, status: StatusShape, warnings: WarningsShape };

export const RegisterAgentAnswerShape = Closed({
  ...IDENTITY_MEMBERS,
  ...KEY_MEMBERS,
  createdAt: TimestampShape,
  ...RECORD_MEMBERS,
});

export const RotateAgentAnswerShape = Closed({
  ...IDENTITY_MEMBERS,
  ...KEY_MEMBERS,
  previousKeyId: Sha256Shape,
  rotatedAt: TimestampShape,
  ...RECORD_MEMBERS,
});

const AGENT_STATUSES = ['active', 'deactivated'] as const;

export const DeactivateAgentAnswerShape = Closed({
  ...IDENTITY_MEMBERS,
  agentStatus: Type.Enum([...AGENT_STATUSES]),
  deactivatedAt: TimestampShape,
  /** The key that was in force. */
  keyId: Sha256Shape,
  ...RECORD_MEMBERS,
});

const AgentKeyShape = Closed(
  {
    keyId: Sha256Shape,
    publicKey: Base64urlShape,
    validFrom: TimestampShape,
    /** Null while it is in force. */
    validUntil: OrNull(TimestampShape),
    /** The record that made it known: its registration or rotation. */
    attestationId: RecordIdShape,
  },
  { title: 'AgentKey' },
);

/** `GET /v1/agents/:agentId`. What stands in the payload of the registration is null once that is erased. */
export const AgentAnswerShape = Closed({
  ...IDENTITY_MEMBERS,
  agentStatus: Type.Enum([...AGENT_STATUSES]),
  displayName: OrNull(Type.String()),
  jurisdiction: OrNull(Type.String()),
  permittedUses: OrNull(Type.Array(Type.String())),
  metadata: OrNull(MetadataShape),
  payloadState: Type.Enum(['available', 'erased']),
  custody: Type.Enum([...CUSTODIES]),
  algorithm: Type.Literal('ML-DSA-65'),
  publicKeyEncoding: Type.Literal('base64url'),
  /** Null once the agent is deactivated. */
  currentKey: OrNull(AgentKeyShape),
  /** All that it ever had, oldest first. */
  keys: Type.Array(AgentKeyShape),
  createdAt: TimestampShape,
  deactivatedAt: OrNull(TimestampShape),
  attestationId: RecordIdShape,
});
export type AgentAnswer = Static<typeof AgentAnswerShape>;

/** `GET /agents/:agentId/did.json` (W3C DID Core, `application/did+json`). */
export const DidDocumentShape = Closed({
  id: Type.String(),
  verificationMethod: Type.Array(
    Closed({
      id: Type.String(),
      type: Type.Literal('JsonWebKey'),
      controller: Type.String(),
      publicKeyJwk: Closed({
        kty: Type.Literal('AKP'),
        alg: Type.Literal('ML-DSA-65'),
        kid: Sha256Shape,
        use: Type.Literal('sig'),
        pub: Base64urlShape,
      }),
      validFrom: TimestampShape,
      revoked: Type.Optional(TimestampShape),
    }),
  ),
  assertionMethod: Type.Array(Type.String(), { maxItems: 1 }),
  deactivated: Type.Optional(Type.Literal(true)),
});
