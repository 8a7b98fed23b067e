import { AccountError, type AccountErrorCode } from '../accounts/account-error.ts';
import { LimitError } from '../accounts/limits/limit-error.ts';
import { SignUpError, type SignUpErrorCode } from '../accounts/sign-up/sign-up-limits.ts';
import { BusyError } from '../concurrency/semaphore.ts';
import { ComplianceError } from '../governance/compliance-error.ts';
import { IntakeError, type IntakeErrorCode } from '../intake/intake-error.ts';
import { PackRefusal } from '../packs/pack-refusal.ts';
import { PaymentError } from '../payments/payment-error.ts';
import { ListsUnavailableError } from '../screening/list-searches.ts';
import { InferenceError, type InferenceErrorCode } from '../services/inference/engine.ts';
import { StoreError } from '../store/store.ts';
import { paymentProblem } from './payment-problems.ts';
import { fieldError, fieldProblem, Problem, type ProblemCode } from './problem.ts';
import { busy } from './work-bounds.ts';

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
  'share-not-found': 'share-not-found',
  'too-many-shares': 'too-many-shares',
  'person-exists': 'person-exists',
  'person-not-found': 'person-not-found',
  'too-many-people': 'too-many-people',
  'second-factor-needed': 'second-factor-needed',
  'second-factor-not-found': 'second-factor-not-found',
  'second-factor-wrong': 'second-factor-wrong',
  'too-many-second-factors': 'too-many-second-factors',
  'link-invalid': 'link-invalid',
};

/** When a mail may be tried again. In seconds. */
const MAIL_RETRY_SECONDS = 60;

/** A refused change of accounts or keys, in the words of the API. */
function accountProblem({ code, message, field }: AccountError): Problem {
  if (field === undefined) return new Problem(CODES[code], `${message}.`);
  return new Problem(CODES[code], `${field}: ${message}`, { errors: [fieldError([field], code, message)] });
}

/** A sign-up, or a request for lost keys, that came to nothing. */
function signUpProblem({ code, message, cause }: SignUpError): Problem {
  const headers = { 'Retry-After': String(MAIL_RETRY_SECONDS) };
  const problems: Readonly<Record<SignUpErrorCode, () => Problem>> = {
    closed: () => new Problem('sign-up-closed', 'This node takes no sign-ups.'),
    'email-invalid': () => fieldProblem('email', 'email', message),
    'no-mail': () => new Problem('dependency-unavailable', 'This node sends no mail.'),
    'not-sent': () =>
      new Problem('dependency-unavailable', 'The mail could not be sent; nothing was made.', { headers, cause }),
  };
  return problems[code]();
}

/**
 * When a caller may come again: to a line that is full, to an engine that failed, to a model that is not there. In
 * seconds.
 */
const BUSY_SECONDS = 2;
const FAILED_SECONDS = 5;
const UNAVAILABLE_SECONDS = 15;

/** A prompt without a completion, in the words of the API. */
function inferenceProblem(error: InferenceError): Problem {
  const { message, counts } = error;
  const unavailable = (seconds: number): Problem => new Problem('model-unavailable', message, later(seconds, error));
  const problems: Readonly<Record<InferenceErrorCode, () => Problem>> = {
    unavailable: () => unavailable(UNAVAILABLE_SECONDS),
    failed: () => unavailable(FAILED_SECONDS),
    'timed-out': () => unavailable(FAILED_SECONDS),
    busy: () => new Problem('model-busy', message, later(BUSY_SECONDS, error)),
    'prompt-too-long': () =>
      new Problem('prompt-too-long', message, {
        errors: [fieldError(['messages'], 'too-long', message)],
        extra: { ...counts },
      }),
  };
  return problems[error.code]();
}

function later(seconds: number, cause: unknown) {
  return { headers: { 'Retry-After': String(seconds) }, cause };
}

/** When a caller who met a full queue or a refused write may come back. In seconds. */
const RETRY_AFTER_SECONDS = 1;

/** When a caller whom a clock that is off kept from recording may come back. In seconds. */
const CLOCK_RETRY_SECONDS = 5;

/** When a caller who met a list that cannot be relied on may come back. In seconds. */
const LIST_RETRY_SECONDS = 60;

/** What the services behind the API throw, as the API says it. Anything not named here is an internal error. */
export function problemOf(thrown: unknown): unknown {
  if (thrown instanceof IntakeError) return intakeProblem(thrown);
  if (thrown instanceof AccountError) return accountProblem(thrown);
  if (thrown instanceof SignUpError) return signUpProblem(thrown);
  if (thrown instanceof LimitError) return limitProblem(thrown);
  if (thrown instanceof PaymentError) return paymentProblem(thrown);
  if (thrown instanceof InferenceError) return inferenceProblem(thrown);
  if (thrown instanceof StoreError) return storeProblem(thrown);
  if (thrown instanceof PackRefusal) return packProblem(thrown);
  if (thrown instanceof BusyError) return busy(thrown);
  if (thrown instanceof ListsUnavailableError) return listProblem(thrown);
  return thrown instanceof ComplianceError ? complianceProblem(thrown) : thrown;
}

function intakeProblem(error: IntakeError): Problem {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  const problems: Readonly<Record<IntakeErrorCode, () => Problem>> = {
    'queue-full': () =>
      new Problem('queue-full', 'Too many records are waiting to be signed.', { headers, cause: error }),
    'store-failed': () =>
      isDiskFull(error)
        ? new Problem('storage-full', 'The disk of the node is full.', { headers, cause: error })
        : new Problem('dependency-unavailable', 'The record could not be stored.', { headers, cause: error }),
    'preparing-failed': () =>
      new Problem('dependency-unavailable', 'The record could not be prepared.', { headers, cause: error }),
    'signing-failed': () =>
      new Problem('dependency-unavailable', 'The record could not be signed.', { headers, cause: error }),
    'clock-off': () =>
      new Problem('clock-off', 'The clock of the node is off. Nothing was recorded.', {
        headers: { 'Retry-After': String(CLOCK_RETRY_SECONDS) },
        cause: error,
      }),
    stopped: () => new Problem('dependency-unavailable', 'The node is stopping.', { headers, cause: error }),
    closed: () =>
      new Problem(
        'chain-closed',
        'The chain of the node cannot go on. What it holds is served; nothing is recorded any more.',
        {
          cause: error,
        },
      ),
    halted: () =>
      new Problem('dependency-unavailable', 'The node accepts no records until its operator has looked at its store.', {
        headers,
        cause: error,
      }),
    'idempotency-conflict': () =>
      new Problem('idempotency-conflict', 'The Idempotency-Key was used with another request.'),
    duplicate: () =>
      new Problem('duplicate-attestation', 'The same request was recorded before.', {
        extra: { existingAttestationId: error.existing ?? null },
      }),
  };
  return problems[error.code]();
}

function limitProblem({ code, message, headers, holder }: LimitError): Problem {
  return new Problem(code, message, { headers, ...(holder === undefined ? {} : { holder }) });
}

function packProblem({ code, message, retrySeconds }: PackRefusal): Problem {
  return new Problem(
    code,
    message,
    retrySeconds === undefined ? {} : { headers: { 'Retry-After': String(retrySeconds) } },
  );
}

function listProblem({ lists, message }: ListsUnavailableError): Problem {
  const headers = { 'Retry-After': String(LIST_RETRY_SECONDS) };
  return new Problem('list-unavailable', `Lists are ${message}. Nothing was charged.`, {
    headers,
    extra: { lists: lists.map(({ listId, state }) => ({ listId, state })) },
  });
}

function storeProblem(cause: StoreError): Problem {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new Problem('dependency-unavailable', 'The store of the node does not answer.', { headers, cause });
}

function complianceProblem({ code, field, message, facts }: ComplianceError): Problem {
  return new Problem(code, `${field}: ${message}`, { errors: [fieldError([field], code, message)], extra: facts });
}

function isDiskFull(error: IntakeError): boolean {
  return error.cause instanceof Error && error.cause.message.includes('No space left on device');
}
