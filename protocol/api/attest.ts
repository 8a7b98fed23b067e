import Type, { type Static } from 'typebox';
import { ENVIRONMENTS, RISK_LEVELS } from '../statement/vocabulary.ts';
import { AGENT_CONDITIONS, SPEAKING_AGENT_MEMBERS } from './agent-fields.ts';
import { SUBJECT_MEMBERS } from './decision-fields.ts';
import { DataShape, ReferenceDatabasesShape, SourceIdShape, TextShape } from './fields.ts';
import { MomentShape } from './times.ts';

/** `POST /v1/attest`: one decision. Members beside these are kept under `additional` and named in `warnings`. */
export const AttestRequestShape = Type.Object(
  {
    sourceId: SourceIdShape,
    data: DataShape,
    sessionId: Type.Optional(TextShape(1, 64)),
    modelId: Type.Optional(TextShape(0, 256)),
    modelVersion: Type.Optional(TextShape(0, 128)),
    confidenceScore: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    riskLevel: Type.Optional(Type.Enum([...RISK_LEVELS])),
    environment: Type.Optional(Type.Enum([...ENVIRONMENTS])),
    referenceDatabase: Type.Optional(ReferenceDatabasesShape),
    matched: Type.Optional(Type.Boolean()),
    ...SPEAKING_AGENT_MEMBERS,
    ...SUBJECT_MEMBERS,
    clientTimestamp: Type.Optional(MomentShape),
    anchorMode: Type.Optional(Type.Enum(['batch', 'direct'])),
  },
  AGENT_CONDITIONS,
);
export type AttestRequest = Static<typeof AttestRequestShape>;
