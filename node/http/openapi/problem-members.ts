import Type, { type TSchema } from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { ObjectIdShape } from '../../../protocol/api/governance-fields.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { Closed, CountShape, NodeIdShape, OrNull, RecordIdShape, TimestampShape } from '../../../protocol/shapes.ts';
import { ACTION_STATUSES } from '../../../protocol/statement/vocabulary.ts';
import type { ProblemCode } from '../problem-codes.ts';

interface ProblemMember {
  readonly shape: TSchema;
  readonly example: JsonValue;
}

const BASE_URL: ProblemMember = {
  shape: OrNull(
    Type.String({ description: 'Where that node is reached; null where the roster in force does not name it.' }),
  ),
  example: 'https://us.meridian.example',
};

/** The members that a code adds to the standard ones. A refusal may leave them out, and has no others. */
export const PROBLEM_MEMBERS: Partial<Readonly<Record<ProblemCode, Readonly<Record<string, ProblemMember>>>>> = {
  'api-key-invalid': {
    home: {
      shape: Type.Unsafe<NodeId>({
        ...NodeIdShape,
        description: 'The node that the key was made at, where its own text says one.',
      }),
      example: 'eu',
    },
  },
  'attestation-not-found': {
    missing: {
      shape: Type.Array(Type.String(), { description: 'Ids that are not there.' }),
      example: [EXAMPLE_IDS.decision],
    },
    found: { shape: Type.Literal(false), example: false },
    verified: { shape: Type.Literal(false), example: false },
  },
  'duplicate-attestation': {
    existingAttestationId: { shape: OrNull(RecordIdShape), example: EXAMPLE_IDS.decision },
  },
  'session-already-ended': {
    endedBy: { shape: RecordIdShape, example: EXAMPLE_IDS.decision },
  },
  'agent-signature-invalid': {
    sign: {
      shape: Closed({
        context: Type.String(),
        statement: Type.String({ description: 'What the ML-DSA-65 signature must be over, in UTF-8.' }),
      }),
      example: { context: 'meridian/agent-proof/1', statement: '{"agent":"claims-triage-agent","v":1}' },
    },
  },
  'agent-inactive': {
    deactivatedAt: { shape: TimestampShape, example: '2026-11-20T16:00:00.000Z' },
  },
  'invalid-transition': {
    from: { shape: OrNull(Type.Enum([...ACTION_STATUSES])), example: 'planned' },
    to: { shape: Type.Enum([...ACTION_STATUSES]), example: 'closed' },
    allowed: { shape: Type.Array(Type.Enum([...ACTION_STATUSES])), example: ['in-progress', 'cancelled'] },
  },
  'prompt-too-long': {
    promptTokens: { shape: OrNull(CountShape), example: 812 },
    contextTokens: { shape: OrNull(CountShape), example: 512 },
  },
  'retention-locked': {
    locks: {
      shape: Type.Array(
        Closed({
          attestationId: RecordIdShape,
          lockId: ObjectIdShape,
          legalHold: Type.Boolean(),
          expiresAt: OrNull(TimestampShape),
        }),
      ),
      example: [
        {
          attestationId: EXAMPLE_IDS.decision,
          lockId: EXAMPLE_IDS.lock,
          legalHold: false,
          expiresAt: '2032-11-21T09:30:00.000Z',
        },
      ],
    },
    truncated: { shape: Type.Boolean({ description: 'Whether there are more than are named.' }), example: false },
  },
  'list-unavailable': {
    lists: {
      shape: Type.Array(Closed({ listId: Type.String(), state: Type.Enum(['missing', 'too-old', 'loading']) })),
      example: [{ listId: 'un-sc-consolidated', state: 'too-old' }],
    },
  },
  'home-only': {
    home: { shape: NodeIdShape, example: 'us' },
    baseUrl: BASE_URL,
  },
  'payload-elsewhere': {
    node: { shape: NodeIdShape, example: 'us' },
    baseUrl: BASE_URL,
  },
  'scope-forbidden': {
    scope: { shape: Type.String({ description: 'The scope that the key lacks.' }), example: 'governance:write' },
  },
  'proof-window-expired': {
    proofWindowEndsAt: { shape: TimestampShape, example: '2026-11-28T09:30:00.000Z' },
  },
};
