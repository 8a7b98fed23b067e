import type { AccountError, AccountErrorCode } from '../accounts/account-error.ts';
import { fieldError, Problem, type ProblemCode } from './problem.ts';

const CODES: Readonly<Record<AccountErrorCode, ProblemCode>> = {
  'account-malformed': 'invalid-field',
  'account-exists': 'account-exists',
  'account-not-found': 'account-not-found',
  'key-weak': 'invalid-field',
  'key-exists': 'key-exists',
  'key-not-found': 'key-not-found',
  'terms-invalid': 'invalid-field',
  'beyond-maker': 'scope-forbidden',
  'maker-ended': 'api-key-revoked',
  'key-ended': 'key-ended',
  'last-admin': 'last-admin-key',
  'too-many-keys': 'too-many-keys',
};

/** A refused change of accounts or keys, in the words of the API. */
export function accountProblem({ code, message, field }: AccountError): Problem {
  if (field === undefined) return new Problem(CODES[code], `${message}.`);
  return new Problem(CODES[code], `${field}: ${message}`, { errors: [fieldError([field], code, message)] });
}
