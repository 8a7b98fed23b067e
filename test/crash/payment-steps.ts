/** The steps of a paid call, in their order. */
export const PAYMENT_STEPS = [
  /** The facilitator is about to be asked whether the payment holds. */
  'verifying',
  'verified',
  /** The work is about to prepare its records. */
  'working',
  /** They are prepared, in memory alone. */
  'prepared',
  /** The work has come to its answer. */
  'worked',
  /** Answer and prepared records are on the disk, and the settlement begun there; nobody was asked for it. */
  'prepared-on-disk',
  /** The transaction went out. */
  'settlement-sent',
  /** It is in a block, and the node knows; nothing of it is on the disk. */
  'settled',
  'settled-on-disk',
  /** The records are about to be made. */
  'publishing',
  /** They are in a group on the disk, and the payment is published. */
  'published',
  /** The answer is about to leave. */
  'released',
] as const;
export type PaymentStep = (typeof PAYMENT_STEPS)[number];

/** Variable with the payments that a process dies of: nonce of the authorization → step, as JSON. */
export const FATAL_PAYMENTS = 'FATAL_PAYMENTS';
