import type { PaymentError, PaymentErrorCode } from '../payments/payment-error.ts';
import { Problem } from './problem.ts';

/** When a caller may come again: to a node that is busy, and to one whose payments are out of order. In seconds. */
const BUSY_SECONDS = 1;
const UNAVAILABLE_SECONDS = 5;
/** The outcome of a settlement is known within a block or two. In seconds. */
const UNKNOWN_SECONDS = 2;
/** Of a node that makes no records any more only its operator has more to say. In seconds. */
const ENDED_SECONDS = 3600;

/** A paid call without an answer, in the words of the API. */
export function paymentProblem(error: PaymentError): Problem {
  const { reason, cause = error } = error;
  const problems: Readonly<Record<PaymentErrorCode, () => Problem>> = {
    refused: () => new Problem('payment-refused', `The payment does not hold: ${reason}.`, { extra: { reason } }),
    'settlement-failed': () =>
      new Problem('payment-settlement-failed', `The payment could not be settled: ${reason}.`, { extra: { reason } }),
    'bound-elsewhere': () =>
      new Problem('payment-bound-elsewhere', 'The authorization was shown with another request before.'),
    'identifier-conflict': () =>
      new Problem('payment-identifier-conflict', 'The payment identifier came with another request before.'),
    'answer-ended': () =>
      new Problem('payment-answer-ended', 'The payment was answered, and the answer is not held any more.'),
    unavailable: () =>
      new Problem('payment-unavailable', 'Payments cannot be taken at the moment.', later(UNAVAILABLE_SECONDS, cause)),
    'outcome-unknown': () =>
      new Problem(
        'payment-outcome-unknown',
        'Send the same request with the same PAYMENT-SIGNATURE again; do not sign a new one.',
        later(UNKNOWN_SECONDS, cause),
      ),
    'not-published': () =>
      new Problem(
        'payment-outcome-unknown',
        'The payment is settled, and its records are being made. Send the same request with the same PAYMENT-SIGNATURE again; do not sign a new one.',
        later(UNKNOWN_SECONDS, cause),
      ),
    'never-published': () =>
      new Problem(
        'payment-outcome-unknown',
        'The payment is settled, and this node can make no records any more: its operator owes you the amount. Do not sign a new one.',
        later(ENDED_SECONDS, cause),
      ),
    'node-busy': () =>
      new Problem('payment-unavailable', 'Too many paid calls are under way.', later(BUSY_SECONDS, cause)),
    'wallet-busy': () =>
      new Problem('rate-limited', 'The wallet has too many calls under way.', later(BUSY_SECONDS, cause)),
    abandoned: () => new Problem('request-aborted', 'The caller went away before the answer; nothing was charged.'),
  };
  return problems[error.code]();
}

function later(seconds: number, cause: unknown) {
  return { headers: { 'Retry-After': String(seconds) }, cause };
}
