export type AccountErrorCode =
  | 'account-malformed'
  | 'account-exists'
  | 'account-not-found'
  /** The account lives at another node. */
  | 'not-home'
  /** No set of nodes that an account of this home can name. */
  | 'nodes-invalid'
  | 'key-weak'
  | 'key-exists'
  | 'key-not-found'
  /** What was asked for is no set of terms. */
  | 'terms-invalid'
  | 'terms-missing'
  /** More than the key that asks has itself. */
  | 'beyond-maker'
  /** The key that asks was revoked or has expired since it was read. */
  | 'maker-ended'
  /** The key was revoked, has expired or was already replaced. */
  | 'key-ended'
  | 'last-admin'
  | 'too-many-keys'
  /** The account has no link of this id. */
  | 'share-not-found'
  | 'too-many-shares'
  | 'person-exists'
  | 'person-not-found'
  | 'too-many-people'
  | 'second-factor-needed'
  | 'second-factor-not-found'
  | 'second-factor-wrong'
  | 'too-many-second-factors'
  /** Of a link for lost keys, or to a record: it was used, has ended, or never was one. */
  | 'link-invalid';

/** A change of accounts or keys that was refused; nothing has changed. The message names no key's text. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
  readonly code: AccountErrorCode;
  /** The member of the request at fault. */
  readonly field: string | undefined;

  constructor(code: AccountErrorCode, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
