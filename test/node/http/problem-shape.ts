import * as assert from 'uvu/assert';
import { PROBLEM_KINDS, type ProblemCode } from '../../../node/http/problem-codes.ts';
import type { HttpAnswer } from '../../fixtures/test-node.ts';

/** Fails unless the answer is the problem of this code, whole and in the one shape that all have (RFC 9457). */
export function requireProblem(answer: HttpAnswer, code: ProblemCode, what: string, field?: string): void {
  const { status, title } = PROBLEM_KINDS[code];
  const { body, headers } = answer;
  assert.is(answer.status, status, `${what}: ${answer.text}`);
  assert.is(body.code, code, `${what}: ${answer.text}`);
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json(;|$)/, what);
  assert.is(body.status, status);
  assert.is(body.title, title);
  assert.is(body.success, false);
  assert.match(String(body.type), new RegExp(`^http://127\\.0\\.0\\.1:\\d+/problems/${code}$`));
  assert.is(body.error, body.detail);
  assert.ok(typeof body.detail === 'string' && body.detail.length > 0, what);
  assert.match(String(body.instance), /^\//);
  assert.is(body.requestId, headers.get('x-request-id'));
  assert.ok(Array.isArray(body.errors), what);
  if (field !== undefined) assert.is(firstField(body.errors), field, `${what}: ${answer.text}`);
}

function firstField(errors: unknown): string | undefined {
  const [first]: unknown[] = Array.isArray(errors) ? errors : [];
  return typeof first === 'object' && first !== null && 'field' in first ? String(first.field) : undefined;
}
