/** How a connection to the mail server is protected. `none` is for a server on this machine. */
export const MAIL_TLS = ['none', 'starttls', 'implicit'] as const;
export type MailTls = (typeof MAIL_TLS)[number];

/** The server that takes this node's mails (a submission server, RFC 6409). */
export interface MailConfig {
  readonly host: string;
  readonly port: number;
  /** `starttls` and `implicit` (RFC 8314) never go on unprotected, and check the server's certificate. */
  readonly tls: MailTls;
  /** Null where the server asks for none. With one, a server that offers no login is not used. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** Sender of every mail. */
  readonly from: string;
}

/** Port that each protection is found on. */
export const DEFAULT_MAIL_PORTS: Readonly<Record<MailTls, number>> = { none: 25, starttls: 587, implicit: 465 };
