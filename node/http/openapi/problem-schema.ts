import Type, { type TSchema } from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { ObjectIdShape } from '../../../protocol/api/governance-fields.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { Closed, CountShape, NodeIdShape, OrNull, RecordIdShape, TimestampShape } from '../../../protocol/shapes.ts';
import { ACTION_STATUSES } from '../../../protocol/statement/vocabulary.ts';
import { HOLDER_KINDS } from '../../accounts/limits/holder-counts.ts';
import { WORK_CLASSES } from '../../accounts/limits/route-weights.ts';
import type { ProblemCode } from '../problem-codes.ts';
import { PROBLEM_MEANINGS } from '../problem-meanings.ts';
import { Problem, problemBody } from '../problem.ts';
import { mapSchema, titledSchema } from '../written-schema.ts';

/**
 * The named schemas of a document. A shape with a title is written once, under that name, and referred to wherever it
 * stands; two shapes of one title may differ in their description alone.
 */
export class NamedSchemas {
  readonly #schemas = new Map<string, JsonObject>();

  /** What stands for a shape where it is used. `name`: what it goes by where it has no title of its own. */
  write(shape: TSchema, name?: string): JsonObject {
    const schema = titledSchema(shape);
    const named = name === undefined || schema.title !== undefined ? schema : { title: name, ...schema };
    return mapSchema(named, (part) => this.#place(part));
  }

  /** Keeps a schema that is no shape. Returns what stands for it. */
  add(name: string, schema: JsonObject): JsonObject {
    return this.#place({ title: name, ...schema });
  }

  /** All of them, by name. */
  all(): JsonObject {
    return Object.fromEntries([...this.#schemas].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  #place(part: JsonObject): JsonObject {
    const { title, ...schema } = part;
    if (typeof title !== 'string') return part;
    const known = this.#schemas.get(title);
    const reference = { $ref: `#/components/schemas/${title}` };
    if (known === undefined) {
      this.#schemas.set(title, schema);
      return reference;
    }
    if (JSON.stringify(known) === JSON.stringify(schema)) return reference;
    const { description, ...rest } = schema;
    const { description: _, ...same } = known;
    if (JSON.stringify(same) !== JSON.stringify(rest)) throw new RangeError(`two schemas are named ${title}`);
    return description === undefined ? reference : { ...reference, description };
  }
}

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
const PROBLEM_MEMBERS: Partial<Readonly<Record<ProblemCode, Readonly<Record<string, ProblemMember>>>>> = {
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
    attestationId: {
      shape: OrNull(RecordIdShape),
      example: EXAMPLE_IDS.erasureRefusalRecord,
    },
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

const EXAMPLE_PATH = '/v1/attest';
const EXAMPLE_REQUEST_ID = 'req_5f0c3d0e-6b5f-4f0e-9a53-0f8f0d6a2f11';

/** RFC 9457 §3.1 with the members that every refusal carries beside. */
export const PROBLEM_SCHEMA: JsonObject = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'success', 'code', 'error', 'requestId', 'errors'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'A page that says what the code means.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'Path of the request.' },
    success: { type: 'boolean', const: false },
    code: { type: 'string', description: 'Stable: programs decide by it.' },
    error: { type: 'string', description: 'The same text as `detail`.' },
    requestId: { type: 'string', description: 'Also in the header `X-Request-Id`.' },
    class: {
      type: 'string',
      enum: [...WORK_CLASSES],
      description: 'Of a 429 or 503: the kind of work that was refused.',
    },
    holder: {
      type: 'string',
      enum: HOLDER_KINDS.filter((kind) => kind !== 'member' && kind !== 'operator'),
      description:
        'Of a 429 or 503: whose allowance counts: that of the account, the address or the wallet; `none` before that is known.',
    },
    errors: {
      type: 'array',
      description: 'The fields at fault.',
      items: {
        type: 'object',
        required: ['field', 'pointer', 'code', 'message'],
        properties: {
          field: { type: 'string' },
          pointer: { type: 'string', description: 'JSON Pointer as a URI fragment (RFC 6901 §6).' },
          code: { type: 'string' },
          message: { type: 'string' },
        },
        additionalProperties: false,
      },
    },
  },
};

/** A refusal with one of these codes, and with no member that none of them has. */
export function refusalSchema(codes: readonly ProblemCode[], schemas: NamedSchemas): JsonObject {
  const members = codes.flatMap((code) => Object.entries(PROBLEM_MEMBERS[code] ?? {}));
  const shapes = members.map(([name, { shape }]) => [name, schemas.write(shape)]);
  return {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    type: 'object',
    properties: { code: { type: 'string', enum: [...codes] }, ...Object.fromEntries(shapes) },
    unevaluatedProperties: false,
  };
}

/** What a refusal with this code looks like. */
export function problemExample(code: ProblemCode, baseUrl: string): JsonObject {
  const members = Object.entries(PROBLEM_MEMBERS[code] ?? {});
  const extra = Object.fromEntries(members.map(([name, { example }]) => [name, example]));
  const problem = new Problem(code, PROBLEM_MEANINGS[code], { extra });
  return problemBody(problem, { baseUrl, instance: EXAMPLE_PATH, requestId: EXAMPLE_REQUEST_ID });
}
