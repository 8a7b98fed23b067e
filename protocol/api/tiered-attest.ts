import Type, { type Static } from 'typebox';
import { AGENT_CONDITIONS, SPEAKING_AGENT_MEMBERS } from './agent-fields.ts';
import { SUBJECT_MEMBERS } from './decision-fields.ts';
import { DataShape, ReferenceDatabasesShape, SourceIdShape, TextShape } from './fields.ts';

/** A closed object: a key of another name or a value of another type is a malformed binding, never dropped. */
export const ModelRefShape = Type.Object(
  {
    model_id: TextShape(1, 256),
    model_version: Type.Optional(TextShape(0, 256)),
    third_party_model: Type.Optional(Type.Boolean()),
    system_id: Type.Optional(TextShape(0, 256)),
  },
  { title: 'ModelRef', additionalProperties: false },
);

export const ComplianceMetaShape = Type.Object(
  {
    riskLevel: Type.Optional(TextShape(0, 64)),
    populationGroup: Type.Optional(TextShape(0, 256)),
    jurisdiction: Type.Optional(Type.Array(TextShape(1, 64), { minItems: 1, maxItems: 20 })),
    serviceEventType: Type.Optional(Type.String({ pattern: '^[A-Z][A-Z0-9_]{1,63}$' })),
  },
  { title: 'ComplianceMeta' },
);

/** `POST /v1/tiered-attest`: one decision as a leaf. */
export const TieredAttestRequestShape = Type.Object(
  {
    sourceId: SourceIdShape,
    data: DataShape,
    model_ref: Type.Optional(ModelRefShape),
    complianceMeta: Type.Optional(ComplianceMetaShape),
    sessionId: Type.Optional(TextShape(1, 64)),
    referenceDatabase: Type.Optional(ReferenceDatabasesShape),
    matched: Type.Optional(Type.Boolean()),
    ...SPEAKING_AGENT_MEMBERS,
    ...SUBJECT_MEMBERS,
  },
  { title: 'TieredDecision', ...AGENT_CONDITIONS },
);
export type TieredAttestRequest = Static<typeof TieredAttestRequestShape>;
