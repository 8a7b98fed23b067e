import type { JsonObject } from '../../protocol/json/value.ts';

export type ComplianceErrorCode =
  | 'attestation-not-found'
  | 'session-not-found'
  | 'session-already-ended'
  | 'source-mismatch'
  | 'time-order'
  | 'time-in-future'
  | 'incident-not-found'
  | 'corrective-action-not-found'
  | 'invalid-transition'
  | 'lock-not-found'
  | 'hold-not-active'
  | 'same-person'
  | 'retention-locked'
  | 'policy-not-found'
  | 'too-many-policies'
  | 'agent-not-found'
  | 'agent-exists'
  | 'agent-inactive'
  | 'agent-keys-exhausted'
  | 'agent-key-unavailable'
  | 'agent-signature-invalid';

/** Why a record of governance was refused: something that it names is not there, or not in the state for it. */
export class ComplianceError extends Error {
  override readonly name = 'ComplianceError';
  readonly code: ComplianceErrorCode;
  /** The request member at fault. */
  readonly field: string;
  /** Further facts for the caller. */
  readonly facts: JsonObject;

  constructor(code: ComplianceErrorCode, field: string, message: string, facts: JsonObject = {}) {
    super(message);
    this.code = code;
    this.field = field;
    this.facts = facts;
  }
}
