/**
 * `refused`: this mail will not be taken, now or later, so the address or the mail is at fault.
 * `unreachable`: the mail server cannot be used at the moment (not reached, too slow, no TLS, no login, or it asked to
 * come later). Nothing says that the mail itself is wrong.
 */
export type MailErrorCode = 'unreachable' | 'refused';

/**
 * Why a mail was not sent. It holds no text of the server and no cause: a server may repeat the recipient or the
 * credentials in its answers, and errors end up in logs.
 */
export class MailError extends Error {
  override readonly name = 'MailError';
  readonly code: MailErrorCode;
  /** The server's reply code (RFC 5321 §4.2), where there was one. */
  readonly reply: number | null;

  constructor(code: MailErrorCode, message: string, reply: number | null = null) {
    super(message);
    this.code = code;
    this.reply = reply;
  }
}
