import { AccountError } from '../accounts/account-error.ts';
import { SignUpError } from '../accounts/sign-up/sign-up-error.ts';
import { ComplianceError } from '../governance/compliance-error.ts';
import { IntakeError, type IntakeErrorCode } from '../intake/intake-error.ts';
import { InferenceError } from '../services/inference/inference-error.ts';
import { LimitError } from '../accounts/limits/limit-error.ts';
import { PaymentError } from '../payments/payment-error.ts';
import { ListsUnavailableError } from '../screening/lists-unavailable.ts';
import { BusyError } from '../concurrency/semaphore.ts';
import { StoreError } from '../store/store.ts';
import { accountProblem, signUpProblem } from './account-problems.ts';
import { inferenceProblem } from './inference-problems.ts';
import { paymentProblem } from './payment-problems.ts';
import { fieldError, Problem } from './problem.ts';
import { busy } from './work-bounds.ts';

/** When a caller who met a full queue or a refused write may come back. In seconds. */
const RETRY_AFTER_SECONDS = 1;

/** When a caller whom a clock that is off kept from recording may come back. In seconds. */
const CLOCK_RETRY_SECONDS = 5;

/** When a caller who met a list that cannot be relied on may come back. In seconds. */
const LIST_RETRY_SECONDS = 60;

/** What the rooms behind the API throw, in the words of the API. Anything not named here is an internal error. */
export function problemOf(thrown: unknown): unknown {
  if (thrown instanceof IntakeError) return intakeProblem(thrown);
  if (thrown instanceof AccountError) return accountProblem(thrown);
  if (thrown instanceof SignUpError) return signUpProblem(thrown);
  if (thrown instanceof LimitError) return limitProblem(thrown);
  if (thrown instanceof PaymentError) return paymentProblem(thrown);
  if (thrown instanceof InferenceError) return inferenceProblem(thrown);
  if (thrown instanceof StoreError) return storeProblem(thrown);
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
