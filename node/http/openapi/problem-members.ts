import Type, { type TSchema } from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { OrNull, RecordIdShape, TimestampShape } from '../../../protocol/shapes.ts';
import type { ProblemCode } from '../problem-codes.ts';

interface ProblemMember {
  readonly shape: TSchema;
  readonly example: JsonValue;
}

/** The members that a code adds to the standard ones. A refusal may leave them out, and has no others. */
export const PROBLEM_MEMBERS: Partial<Readonly<Record<ProblemCode, Readonly<Record<string, ProblemMember>>>>> = {
  'attestation-not-found': {
    found: { shape: Type.Literal(false), example: false },
    verified: { shape: Type.Literal(false), example: false },
  },
  'duplicate-attestation': {
    existingAttestationId: { shape: OrNull(RecordIdShape), example: EXAMPLE_IDS.decision },
  },
  'scope-forbidden': {
    scope: { shape: Type.String({ description: 'The scope that the key lacks.' }), example: 'governance:write' },
  },
  'proof-window-expired': {
    proofWindowEndsAt: { shape: TimestampShape, example: '2026-11-28T09:30:00.000Z' },
  },
};
