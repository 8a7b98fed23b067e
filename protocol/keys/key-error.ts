export type KeyFault =
  | 'certificate-malformed'
  | 'certificate-unsigned'
  | 'key-id-mismatch'
  | 'not-for-signing'
  | 'revocation-malformed'
  | 'revocation-unsigned'
  | 'too-many'
  | 'unknown-member';

/** What a node's identity key is said to have signed about a key does not hold, or there is no room for it. */
export class KeyError extends Error {
  override readonly name = 'KeyError';
  readonly code: KeyFault;

  constructor(code: KeyFault, message: string) {
    super(message);
    this.code = code;
  }
}
