import { PROBLEM_CONTENT_TYPE } from '../../node/http/problem.ts';
import { isProblemCode, PROBLEM_KINDS } from '../../node/http/problem-codes.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { type ApiDocument, DEMAND_STATUS } from '../fixtures/api-document.ts';
import type { FuzzedRequest } from './fuzzed-request.ts';
import type { Outcome, RawAnswer } from './raw-connection.ts';

/** What any request may be refused with, before it is known which operation it is for. */
const OF_ANY_REQUEST = new Set(['request-malformed', 'headers-too-large', 'route-not-found', 'method-not-allowed']);
/** A 402 has the form of x402. */
const DEMAND_TYPE = 'application/json';
/** What may happen to a request whose sender hung up, or never sent all of it. */
const UNFINISHED = new Set<FuzzedRequest['after']>(['cut', 'half-close']);

/**
 * What is wrong with how the node took a hostile request; null where nothing is: it was refused with a problem of a
 * code that is described, or it happened to be right.
 */
export function outcomeFault(document: ApiDocument, request: FuzzedRequest, outcome: Outcome): string | null {
  if (outcome === 'closed') return UNFINISHED.has(request.after) ? null : 'the connection was closed without an answer';
  if (outcome === 'silent') return 'no answer';
  if (outcome.status < 400) return request.mayPass() ? null : `accepted with ${outcome.status}`;
  return request.noBody ? statusFault(outcome) : refusalFault(document, request, outcome);
}

function statusFault({ status }: RawAnswer): string | null {
  return status < 500 ? null : `answered ${status}`;
}

function refusalFault(document: ApiDocument, { operation }: FuzzedRequest, answer: RawAnswer): string | null {
  const { status, headers, body } = answer;
  if (status >= 500) return `answered ${status}: ${body}`;
  const isDemand = status === DEMAND_STATUS && operation.usd !== null;
  const type = isDemand ? DEMAND_TYPE : PROBLEM_CONTENT_TYPE;
  if (!headers.get('content-type')?.startsWith(type)) return `${status} without a problem: ${body}`;
  const problem = objectOf(body);
  const code = String(problem.code);
  if (!isProblemCode(code)) return `the code ${code} is not known`;
  const said = isDemand ? status : problem.status;
  if (PROBLEM_KINDS[code].status !== status || said !== status) return `${code} under ${status}`;
  if (problem.success !== false || (!isDemand && problem.error !== problem.detail)) return `another form: ${body}`;
  if (problem.requestId !== (headers.get('x-request-id') ?? '')) return 'another request id';
  if (OF_ANY_REQUEST.has(code) || document.codesOf(operation).has(code)) return null;
  return `refused with ${code}, which is not described: ${body}`;
}

/** The ids of all records that an accepted request made. */
export function recordsMade(request: FuzzedRequest, outcome: Outcome): string[] {
  if (typeof outcome === 'string' || outcome.status !== 200) return [];
  if (!request.operation.parameters.some(({ name }) => name === 'Idempotency-Key')) return [];
  return attestationIds(objectOf(outcome.body));
}

function attestationIds(value: JsonValue): string[] {
  if (!isJsonObject(value)) return [];
  const { attestationId } = value;
  return typeof attestationId === 'string' ? [attestationId] : [];
}

function objectOf(text: string): JsonObject {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
