/** Why a roster is not taken, or a chain of rosters does not hold. */
export type RosterFault = 'malformed' | 'broken-chain' | 'too-few-signatures' | 'empty';

export class RosterError extends Error {
  override readonly name = 'RosterError';
  readonly code: RosterFault;

  constructor(code: RosterFault, message: string) {
    super(message);
    this.code = code;
  }
}
