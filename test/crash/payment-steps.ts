/** The steps of a paid call, in their order. */
export const PAYMENT_STEPS = [
  /** The facilitator is about to be asked whether the payment holds. */
  'verifying',
  'verified',
  /** The work is about to write its records. */
  'working',
  'records-written',
  /** The work has come to its answer. */
  'worked',
  /** The answer is on the disk, and the settlement begun there; nobody was asked for it. */
  'answer-held',
  /** The transaction went out. */
  'settlement-sent',
  /** It is in a block, and the node knows; nothing of it is on the disk. */
  'settled',
  'settled-on-disk',
  /** The answer is about to leave. */
  'released',
] as const;
export type PaymentStep = (typeof PAYMENT_STEPS)[number];

/** Variable with the payments that a process dies of: nonce of the authorization → step, as JSON. */
export const FATAL_PAYMENTS = 'FATAL_PAYMENTS';
