import type { RecordId } from '../../protocol/ids.ts';

/** `halted`: until an operator has looked. `closed`: for good. */
export type HaltCode = 'closed' | 'halted';

export type IntakeErrorCode =
  | 'queue-full'
  | 'store-failed'
  | 'preparing-failed'
  | 'signing-failed'
  | 'clock-off'
  | 'stopped'
  | HaltCode
  | 'duplicate'
  | 'idempotency-conflict';

/** Why a record was not made. Nothing of it is stored. */
export class IntakeError extends Error {
  override readonly name = 'IntakeError';
  readonly code: IntakeErrorCode;
  /** With `duplicate`: the record that exists already. */
  readonly existing?: RecordId;

  constructor(code: IntakeErrorCode, message: string, cause?: unknown, existing?: RecordId) {
    super(message, { cause });
    this.code = code;
    if (existing !== undefined) this.existing = existing;
  }
}
