export type AlertRefusalCode =
  | 'delivery-not-found'
  | 'no-mail-address'
  | 'too-many-webhooks'
  | 'webhook-not-found'
  | 'webhook-url-refused';

/** What is asked of webhooks and is not done. The message is for the caller. */
export class AlertRefusal extends Error {
  override readonly name = 'AlertRefusal';
  readonly code: AlertRefusalCode;

  constructor(code: AlertRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
