import Type from 'typebox';
import { MAX_LINKED } from '../chain/claims.ts';
import { ENVIRONMENTS } from '../statement/vocabulary.ts';
import { TextShape } from './fields.ts';
import { IdTextShape } from './governance-fields.ts';
import { MomentShape } from './times.ts';

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

/** What every channel that records decisions takes, so that the same claims can be made on each. */
export const CLAIM_MEMBERS = {
  model_ref: Type.Optional(ModelRefShape),
  complianceMeta: Type.Optional(ComplianceMetaShape),
  environment: Type.Optional(Type.Enum([...ENVIRONMENTS])),
  confidenceScore: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  /** When the event happened, as the caller asserts it: signed beside the node’s own time. */
  occurredAt: Type.Optional(MomentShape),
  /** Whether it went against the person concerned, as the caller asserts it. */
  adverse: Type.Optional(Type.Boolean()),
};

/** What a decision may be about, beside its own data. */
export const SUBJECT_MEMBERS = {
  /** An incident of the account. With the event `AUTHORITY_NOTIFICATION`: the one that the authority was told of. */
  incidentId: Type.Optional(TextShape(1, 64)),
  /**
   * The person concerned, in the caller's own words: kept in the payload alone. What is signed is a pseudonym under a
   * secret of the account at this node.
   */
  subjectRef: Type.Optional(TextShape(1, 256)),
  /** Records of the account that this one belongs to. */
  relatedAttestationIds: Type.Optional(Type.Array(IdTextShape, { maxItems: MAX_LINKED })),
};
