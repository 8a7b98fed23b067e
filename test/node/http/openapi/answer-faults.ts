import { type ApiDocument, DEMAND_STATUS, type Operation } from '../../../fixtures/api-document.ts';
import type { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import type { HttpAnswer } from '../../../fixtures/test-node.ts';

/** What any request may be refused with, before it is known which operation it is for. */
const OF_ANY_REQUEST = new Set(['request-malformed', 'headers-too-large', 'route-not-found', 'method-not-allowed']);
/** Headers that HTTP, Fetch and browsers give their meaning. */
const OF_HTTP = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'etag',
  'keep-alive',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
]);

const PROBLEM_TYPE = /^application\/problem\+json(;|$)/;
const DEMAND_TYPE = /^application\/json(;|$)/;

export function isHeaderOfHttp(name: string): boolean {
  return OF_HTTP.has(name);
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
  if (OF_ANY_REQUEST.has(code)) return [];
  if (!document.codesOf(operation).has(code)) return [`refuses with ${code}, which is not described: ${text}`];
  const described = operation.answers.get(status);
  if (described === undefined) return [`${code} under ${status}, which is not described`];
  const fault = judge.of(described.content.schema)(body);
  return fault === null ? [] : [`${code}: ${fault}: ${text}`];
}
