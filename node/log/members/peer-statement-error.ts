/**
 * `malformed` and `forged` are the sender's fault whatever else is true; `unknown-key` and `unknown-member` may be
 * cured by a certificate or roster that has not arrived yet; `undecidable` is an envelope that the log has not decided
 * and cannot decide any more; `too-many` holds, and is more than is kept of its kind.
 */
export type StatementFault = 'malformed' | 'forged' | 'unknown-key' | 'unknown-member' | 'undecidable' | 'too-many';

export class PeerStatementError extends Error {
  override readonly name = 'PeerStatementError';
  readonly fault: StatementFault;

  constructor(fault: StatementFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
