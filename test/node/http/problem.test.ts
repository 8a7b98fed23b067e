import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fieldError, Problem, problemBody, toProblem } from '../../../node/http/problem.ts';
import { PROBLEM_KINDS } from '../../../node/http/problem-codes.ts';

const occurrence = { baseUrl: 'https://eu.example', instance: '/v1/attest', requestId: 'req_1' };

test('a problem answers with the RFC 9457 members and the simple ones beside them', () => {
  const errors = [fieldError(['sourceId'], 'required', 'sourceId is required')];
  const problem = new Problem('missing-field', 'sourceId is required', { errors });
  assert.equal(JSON.parse(JSON.stringify(problemBody(problem, occurrence))), {
    type: 'https://eu.example/problems/missing-field',
    title: 'Required field missing',
    status: 400,
    detail: 'sourceId is required',
    instance: '/v1/attest',
    success: false,
    code: 'missing-field',
    error: 'sourceId is required',
    requestId: 'req_1',
    errors: [{ field: 'sourceId', pointer: '#/sourceId', code: 'required', message: 'sourceId is required' }],
  });
});

test('an unexpected error answers 500 without its message', () => {
  const cause = new Error('password=hunter2 at /srv/x');
  const body = problemBody(cause, occurrence);
  assert.is(body.status, 500);
  assert.is(body.code, 'internal');
  assert.not.match(JSON.stringify(body), 'hunter2');
  assert.is(toProblem(cause).cause, cause);
  assert.is(problemBody('thrown text', occurrence).code, 'internal');
});

test('the cause of a problem stays out of its body', () => {
  const problem = new Problem('storage-full', 'No room is left.', { cause: new Error('ENOSPC /var/x') });
  assert.not.match(JSON.stringify(problemBody(problem, occurrence)), 'ENOSPC');
});

test('what the server answers for is a fault, but where it was to be expected', () => {
  assert.ok(toProblem(new Error('lost')).isFault);
  assert.ok(new Problem('payment-unavailable', 'Not now.').isFault);
  assert.not.ok(new Problem('payment-unavailable', 'Never.', { expected: true }).isFault);
  assert.not.ok(new Problem('missing-field', 'No sourceId.').isFault);
});

test('extra members stand in the body and cannot replace a standard one', () => {
  const extra = { existingAttestationId: 'att_eu_1', success: true, status: 200, code: 'x' };
  const body = problemBody(new Problem('duplicate-attestation', 'Seen before.', { extra }), occurrence);
  assert.is(body.existingAttestationId, 'att_eu_1');
  assert.is(body.success, false);
  assert.is(body.status, 409);
  assert.is(body.code, 'duplicate-attestation');
});

test('every code is kebab-case and has an error status that is in use, never 422', () => {
  for (const [code, { status, title }] of Object.entries(PROBLEM_KINDS)) {
    assert.match(code, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(status >= 400 && status < 600 && status !== 422, code);
    assert.ok(title.length > 0);
  }
});

test('pointers escape what RFC 6901 and a URI fragment need escaped', () => {
  assert.equal(fieldError(['a/b', 0, 'c~d', 'ü'], 'x', 'm'), {
    field: 'a/b.0.c~d.ü',
    pointer: '#/a~1b/0/c~0d/%C3%BC',
    code: 'x',
    message: 'm',
  });
  assert.is(fieldError([], 'x', 'm').pointer, '#');
  assert.is(fieldError(['\ud800'], 'x', 'm').pointer, '#/%EF%BF%BD');
});

test.run();
