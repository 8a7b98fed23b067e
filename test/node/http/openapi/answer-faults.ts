import {
  type Answer,
  type ApiDocument,
  DEMAND_STATUS,
  type Operation,
  valueOf,
} from '../../../fixtures/api-document.ts';
import type { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import type { HttpAnswer } from '../../../fixtures/test-node.ts';

/** Headers that HTTP, Fetch and browsers give their meaning. */
const OF_HTTP = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'etag',
  'keep-alive',
  'referrer-policy',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
  'x-robots-tag',
]);

const PROBLEM_TYPE = /^application\/problem\+json(;|$)/;
const DEMAND_TYPE = /^application\/json(;|$)/;

/** What is wrong with the headers of an answer: one that is not described, lacks, or has another value. */
export function headerFaults(judge: SchemaJudge, { headers }: Answer, answer: HttpAnswer): string[] {
  const described = new Map([...headers].map(([name, header]) => [name.toLowerCase(), header]));
  const faults: string[] = [];
  for (const [name, { required, schema }] of described) {
    const value = answer.headers.get(name);
    if (value === null && required) faults.push(`lacks the header ${name}`);
    const fault = value === null ? null : judge.of(schema)(valueOf(schema, value));
    if (fault !== null) faults.push(`the header ${name}: ${fault}`);
  }
  for (const name of answer.headers.keys()) {
    if (!described.has(name) && !OF_HTTP.has(name)) faults.push(`has the header ${name}, which is not described`);
  }
  return faults;
}

/** What is wrong with a refusal: that it is none, that its code is not described here, or its form. */
export function refusalFault(
  document: ApiDocument,
  judge: SchemaJudge,
  operation: Operation,
  { status, headers, body, text }: HttpAnswer,
): string[] {
  const code = String(body.code);
  if (status < 400 || status >= 500) return [`${status} where a refusal is due: ${text}`];
  const isDemand = status === DEMAND_STATUS && operation.usd !== null;
  const type = isDemand ? DEMAND_TYPE : PROBLEM_TYPE;
  if (!type.test(headers.get('content-type') ?? '')) return [`no problem: ${text}`];
  if (isDemand && !headers.has('payment-required')) return [`402 without terms: ${text}`];
  if (!document.codesOf(operation).has(code)) return [`refuses with ${code}, which is not described: ${text}`];
  const described = operation.answers.get(status);
  if (described === undefined) return [`${code} under ${status}, which is not described`];
  const answer = { status, headers, body, text };
  const fault = judge.of(described.content.schema)(body);
  return [
    ...(fault === null ? [] : [`${code}: ${fault}: ${text}`]),
    ...headerFaults(judge, described, answer).map((one) => `${code}: ${one}`),
    ...unknownFields(operation, body).map((field) => `${code}: names ${field}, which is nothing of the request`),
  ];
}

/** Fields at fault that are no parameter of the operation, where it takes no body: one name for both. */
function unknownFields({ parameters, request }: Operation, { errors }: HttpAnswer['body']): string[] {
  if (request !== null || !Array.isArray(errors)) return [];
  const known = new Set(parameters.map(({ name }) => name));
  const fields = errors.map((error) => String(Object(error).field)).filter((field) => field !== '');
  // A parameter that is not known is named as it was sent.
  return fields.filter((field) => !known.has(field) && field !== 'nonsense');
}
