/** Why a roster is not taken, or a chain of rosters does not hold. */
export type RosterFault =
  | 'too-long'
  | 'malformed'
  | 'broken-chain'
  | 'ledger-changed'
  | 'continues'
  | 'quorum'
  | 'named-twice'
  | 'identity-key'
  | 'identity-key-passed'
  | 'too-many-identity-keys'
  | 'account-passed'
  | 'other-operator'
  | 'too-many-nodes'
  | 'too-few-signatures'
  | 'empty';

export class RosterError extends Error {
  override readonly name = 'RosterError';
  readonly code: RosterFault;

  constructor(code: RosterFault, message: string) {
    super(message);
    this.code = code;
  }
}
