import type { JsonObject } from '../../../protocol/json/value.ts';
import { HOLDER_KINDS } from '../../accounts/limits/holder.ts';
import { WORK_CLASSES } from '../../accounts/limits/route-weights.ts';
import { Problem, problemBody } from '../problem.ts';
import { PROBLEM_MEMBERS } from './problem-members.ts';
import { PROBLEM_MEANINGS } from '../problem-meanings.ts';
import type { ProblemCode } from '../problem-codes.ts';
import type { NamedSchemas } from './schemas.ts';

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
