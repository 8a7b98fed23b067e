/**
 * `malformed` and `forged` are the sender's fault whatever else is true; `unknown-key` and `unknown-member` may be
 * cured by a certificate or roster that has not arrived yet; `late` is what a node did after it was removed; `unvouched`
 * is by a revoked key, and nothing shows that it was not made by whoever stole it; `too-many` holds, and is more than is
 * kept of its kind.
 */
export type StatementFault =
  | 'malformed'
  | 'forged'
  | 'unknown-key'
  | 'unknown-member'
  | 'late'
  | 'unvouched'
  | 'too-many';

export class PeerStatementError extends Error {
  override readonly name = 'PeerStatementError';
  readonly fault: StatementFault;

  constructor(fault: StatementFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
