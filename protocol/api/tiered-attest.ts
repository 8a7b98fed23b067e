import Type, { type Static } from 'typebox';
import { AGENT_CONDITIONS, SPEAKING_AGENT_MEMBERS } from './agent-fields.ts';
import { CLAIM_MEMBERS, SUBJECT_MEMBERS } from './decision-fields.ts';
import { DataShape, ReferenceDatabasesShape, SourceIdShape, TextShape } from './fields.ts';

/** `POST /v1/tiered-attest`: one decision as a leaf. */
export const TieredAttestRequestShape = Type.Object(
  {
    sourceId: SourceIdShape,
    data: DataShape,
    ...CLAIM_MEMBERS,
    sessionId: Type.Optional(TextShape(1, 64)),
    referenceDatabase: Type.Optional(ReferenceDatabasesShape),
    matched: Type.Optional(Type.Boolean()),
    ...SPEAKING_AGENT_MEMBERS,
    ...SUBJECT_MEMBERS,
  },
  { title: 'TieredDecision', ...AGENT_CONDITIONS },
);
export type TieredAttestRequest = Static<typeof TieredAttestRequestShape>;
