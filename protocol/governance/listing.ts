import Type, { type Static } from 'typebox';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from '../api/envelope.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from '../api/example-ids.ts';
import { SourceIdShape, TextShape } from '../api/fields.ts';
import { ObjectIdShape } from '../api/governance-fields.ts';
import { AssertedShape } from '../chain/asserted.ts';
import type { JsonObject } from '../json/value.ts';
import { objectId } from '../object-ids.ts';
import { Closed, CursorShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { type Declaration, GOVERNANCE_SOURCE } from './declaration.ts';

/** Records of one page, where no number is asked for and at most. */
export const DEFAULT_GOVERNANCE_PAGE = 50;
export const MAX_GOVERNANCE_PAGE = 100;

/** `GET` of a kind's list. */
export const GovernanceQueryShape = Closed({
  sourceId: Type.Optional(SourceIdShape),
  systemRef: Type.Optional(TextShape(1, 256)),
  /** `true`: those alone that nothing supersedes. */
  current: Type.Optional(Type.Enum(['true', 'false'])),
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_GOVERNANCE_PAGE })),
});
export type GovernanceQuery = Static<typeof GovernanceQueryShape>;

/** What the answer to a recording and the entry of a list both have, beside the kind's own id. */
const COMMON = {
  sourceId: Type.String(),
  /** What is signed of the request: persons under pseudonyms, free text not at all. */
  facts: AssertedShape,
  modelId: OrNull(Type.String()),
  modelVersion: OrNull(Type.String()),
  decisionId: OrNull(RecordIdShape),
  incidentId: OrNull(ObjectIdShape),
  supersedes: OrNull(ObjectIdShape),
};

/** The answer to a recording of a kind. */
export function governanceAnswerShape({ idMember }: Declaration) {
  return Closed({ ...ENVELOPE_MEMBERS, [idMember]: ObjectIdShape, ...COMMON });
}

/** One page of a kind's records of an account on a node, the newest first. */
export function governanceListShape({ idMember }: Declaration) {
  const item = Closed({
    [idMember]: ObjectIdShape,
    attestationId: RecordIdShape,
    submittedAt: TimestampShape,
    ...COMMON,
    /** Names of the members that the request gave, free text among them. */
    given: Type.Array(Type.String()),
    relatedAttestationIds: Type.Array(RecordIdShape),
    supersededBy: OrNull(ObjectIdShape),
  });
  return Closed({
    success: Type.Literal(true),
    items: Type.Array(item, { maxItems: MAX_GOVERNANCE_PAGE }),
    /** Null on the last page. A page may hold few records, or none, and not be the last. */
    nextCursor: OrNull(Type.String()),
  });
}

/** The documented answer to a recording of a kind. */
export function governanceAnswerExample(declaration: Declaration): JsonObject {
  const { exampleId, idMember, object } = declaration;
  return {
    ...ENVELOPE_EXAMPLE,
    warnings: [],
    attestationId: exampleId,
    verifyUrl: `https://eu.example/v1/verify/${exampleId}`,
    [idMember]: objectId(object, exampleId),
    ...commonExample(declaration),
  };
}

/** The documented page of a kind's list. */
export function governanceListExample(declaration: Declaration): JsonObject {
  const { example, exampleId, idMember, object } = declaration;
  const item = {
    [idMember]: objectId(object, exampleId),
    attestationId: exampleId,
    submittedAt: EXAMPLE_SUBMITTED_AT,
    ...commonExample(declaration),
    given: Object.keys(example).sort(),
    relatedAttestationIds: [],
    supersededBy: null,
  };
  return { success: true, items: [item], nextCursor: null };
}

function commonExample({ example, exampleFacts }: Declaration): JsonObject {
  return {
    sourceId: typeof example.sourceId === 'string' ? example.sourceId : GOVERNANCE_SOURCE,
    facts: { ...exampleFacts },
    modelId: null,
    modelVersion: null,
    decisionId: example.decisionId === undefined ? null : EXAMPLE_IDS.decision,
    incidentId: example.incidentId === undefined ? null : EXAMPLE_IDS.incident,
    supersedes: null,
  };
}
