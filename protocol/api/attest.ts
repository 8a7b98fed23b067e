import Type, { type Static } from 'typebox';
import { RISK_LEVELS } from '../statement/vocabulary.ts';
import { AGENT_CONDITIONS, SPEAKING_AGENT_MEMBERS } from './agent-fields.ts';
import { CLAIM_MEMBERS, SUBJECT_MEMBERS } from './decision-fields.ts';
import { DataShape, ReferenceDatabasesShape, SourceIdShape, TextShape } from './fields.ts';
import { MomentShape } from './times.ts';

/**
 * `POST /v1/attest`: one decision. Members beside these are kept under `additional` and named in `warnings`. What
 * `model_ref` and `complianceMeta` say may stand at the top as well, and then says the same.
 */
export const AttestRequestShape = Type.Object(
  {
    sourceId: SourceIdShape,
    data: DataShape,
    sessionId: Type.Optional(TextShape(1, 64)),
    modelId: Type.Optional(TextShape(0, 256)),
    modelVersion: Type.Optional(TextShape(0, 128)),
    riskLevel: Type.Optional(Type.Enum([...RISK_LEVELS])),
    ...CLAIM_MEMBERS,
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
