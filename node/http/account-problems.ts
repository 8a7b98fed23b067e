import type { AccountError, AccountErrorCode } from '../accounts/account-error.ts';
import type { SignUpError, SignUpErrorCode } from '../accounts/sign-up/sign-up-error.ts';
import { fieldError, Problem, type ProblemCode } from './problem.ts';

const CODES: Readonly<Record<AccountErrorCode, ProblemCode>> = {
  'account-malformed': 'invalid-field',
  'account-exists': 'account-exists',
  'account-not-found': 'account-not-found',
  'not-home': 'home-only',
  'nodes-invalid': 'invalid-field',
  'key-weak': 'invalid-field',
  'key-exists': 'key-exists',
  'key-not-found': 'key-not-found',
  'terms-invalid': 'invalid-field',
  'terms-missing': 'missing-field',
  'beyond-maker': 'scope-forbidden',
  'maker-ended': 'api-key-revoked',
  'key-ended': 'key-ended',
  'last-admin': 'last-admin-key',
  'too-many-keys': 'too-many-keys',
  'link-invalid': 'link-invalid',
};

/** When a mail may be tried again. In seconds. */
const MAIL_RETRY_SECONDS = 60;

/** A refused change of accounts or keys, in the words of the API. */
export function accountProblem({ code, message, field }: AccountError): Problem {
  if (field === undefined) return new Problem(CODES[code], `${message}.`);
  return new Problem(CODES[code], `${field}: ${message}`, { errors: [fieldError([field], code, message)] });
}

/** A sign-up, or a request for lost keys, that came to nothing. */
export function signUpProblem({ code, message, cause }: SignUpError): Problem {
  const headers = { 'Retry-After': String(MAIL_RETRY_SECONDS) };
  const problems: Readonly<Record<SignUpErrorCode, () => Problem>> = {
    closed: () => new Problem('sign-up-closed', 'This node takes no sign-ups.'),
    'email-invalid': () =>
      new Problem('invalid-field', `email ${message}`, { errors: [fieldError(['email'], 'email', message)] }),
    'no-mail': () => new Problem('dependency-unavailable', 'This node sends no mail.'),
    'not-sent': () =>
      new Problem('dependency-unavailable', 'The mail could not be sent; nothing was made.', { headers, cause }),
  };
  return problems[code]();
}
