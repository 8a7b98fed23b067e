import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountError } from '../../../node/accounts/account-error.ts';
import { SignUpError } from '../../../node/accounts/sign-up/sign-up-limits.ts';
import { configOf } from '../../../node/config/config.ts';
import { problemOf } from '../../../node/http/domain-problems.ts';
import { Problem } from '../../../node/http/problem.ts';

function problem(error: Error): Problem {
  const found = problemOf(error);
  if (!(found instanceof Problem)) throw new Error('it is no problem');
  return found;
}

test('a sign-up that comes to nothing says why, and when to come back', () => {
  const cases = [
    ['closed', 'sign-up-closed', 403],
    ['no-mail', 'dependency-unavailable', 503],
    ['email-invalid', 'invalid-field', 400],
    ['not-sent', 'dependency-unavailable', 503],
  ] as const;
  for (const [error, code, status] of cases) {
    const found = problem(new SignUpError(error, 'is so'));
    assert.equal([found.code, found.status], [code, status]);
    assert.is(found.headers['Retry-After'], error === 'not-sent' ? '60' : undefined);
  }
});

test('a refused change of a key names the field', () => {
  const { code, status, errors } = problem(new AccountError('beyond-maker', 'is too much', 'sources'));
  assert.equal([code, status, errors.map(({ field }) => field)], ['scope-forbidden', 403, ['sources']]);
  assert.is(problem(new AccountError('maker-ended', 'ended')).status, 401);
});

test('sign-up is on unless the operator turns it off', () => {
  const variables = {
    NODE_ID: 'eu',
    NODE_HOME: '/h',
    ROSTER: '/r',
    LEDGER_OPERATOR_ID: '0.0.2',
    LEDGER_OPERATOR_KEY: 'k',
  };
  assert.is(configOf(variables).signUp, true);
  assert.is(configOf({ ...variables, SIGN_UP: 'off' }).signUp, false);
  assert.throws(() => configOf({ ...variables, SIGN_UP: 'no' }), /SIGN_UP/);
});

test.run();
