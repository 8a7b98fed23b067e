/**
 * `closed`: the operator turned sign-up off. `no-mail`: this node sends no mail. `email-invalid`: no address to write to.
 * `not-sent`: the mail was not taken; nothing was made or changed.
 */
export type SignUpErrorCode = 'closed' | 'no-mail' | 'email-invalid' | 'not-sent';

export class SignUpError extends Error {
  override readonly name = 'SignUpError';
  readonly code: SignUpErrorCode;

  constructor(code: SignUpErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
