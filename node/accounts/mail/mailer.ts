import type { NodemailerError, SMTPTransportOptions, Transporter } from 'nodemailer';
import { BusyError, Semaphore } from '../../concurrency/semaphore.ts';
import { isMailAddress } from './mail-address.ts';

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

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
  /** RFC 5322 §3.6.4, without the angle brackets. Default: a fresh one. */
  readonly messageId?: string;
  /** Address that a mail program asks to get no more of these (RFC 8058). */
  readonly unsubscribe?: string;
}

/** Sends mails. Disposing it gives up those under way. */
export interface Mailer extends AsyncDisposable {
  /**
   * Resolves once the server has taken the mail. A mail that was given up at the very end may arrive all the same, and
   * one that was taken may still be returned to the sender's address.
   *
   * @throws MailError `refused` or `unreachable`; the reason of `signal`
   */
  send(mail: Mail, signal?: AbortSignal): Promise<void>;
}

/** Bounds on time, in milliseconds. */
export interface MailLimits {
  readonly dnsMs: number;
  readonly connectMs: number;
  readonly greetingMs: number;
  /** Longest silence of the server. */
  readonly silenceMs: number;
  /** The whole sending, waiting for a connection included. */
  readonly wholeMs: number;
}

export const MAIL_LIMITS: MailLimits = {
  dnsMs: 5_000,
  connectMs: 10_000,
  greetingMs: 10_000,
  silenceMs: 20_000,
  wholeMs: 30_000,
};
/** How long the server's end of a finished connection is waited for. In milliseconds. */
const HANG_UP_MS = 500;
const MAX_CONNECTIONS = 4;
const MAX_WAITING = 256;
/** In characters. */
const MAX_SUBJECT = 200;
const MAX_TEXT = 65_536;
/** In bytes. */
const MAX_REPLY = 65_536;

/** A login or more protection is asked for (RFC 4954 §6). */
const ACCESS_REPLIES: ReadonlySet<number> = new Set([530, 534, 535, 538]);
/** What stands between angle brackets in a header. */
const IN_BRACKETS = /^[!-;=?-~]{0,500}$/;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROL_BUT_TAB_AND_NEWLINE = /[^\P{Cc}\t\n]/u;

/** A mailer that sends through the server of `config`, one connection a mail. */
export function createMailer(config: MailConfig, limits: MailLimits = MAIL_LIMITS): Mailer {
  return new SmtpMailer(config, limits);
}

class SmtpMailer implements Mailer {
  readonly #from: string;
  readonly #wholeMs: number;
  readonly #options: SMTPTransportOptions;
  readonly #slots = new Semaphore({ places: MAX_CONNECTIONS, waiting: MAX_WAITING });
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #transport: Promise<Transporter> | undefined;

  constructor(config: MailConfig, limits: MailLimits) {
    this.#from = config.from;
    this.#wholeMs = limits.wholeMs;
    this.#options = transportOptions(config, limits);
  }

  async send(mail: Mail, signal?: AbortSignal): Promise<void> {
    refuseUnsafe(mail);
    signal?.throwIfAborted();
    const limit = AbortSignal.timeout(this.#wholeMs);
    const sending = this.#deliver(mail, AbortSignal.any([this.#closing.signal, limit, ...(signal ? [signal] : [])]));
    this.#underWay.add(sending);
    try {
      await sending;
    } catch (thrown) {
      if (signal?.aborted) throw signal.reason;
      if (this.#closing.signal.aborted) throw new MailError('unreachable', 'the mailer is closed');
      if (limit.aborted) throw new MailError('unreachable', `the mail was not taken in ${this.#wholeMs} ms`);
      if (thrown instanceof BusyError) throw new MailError('unreachable', 'too many mails are waiting');
      throw mailErrorOf(thrown);
    } finally {
      this.#underWay.delete(sending);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#underWay);
    (await this.#transport?.catch(() => undefined))?.close();
  }

  async #deliver({ to, subject, text, messageId, unsubscribe }: Mail, signal: AbortSignal): Promise<void> {
    using _slot = await this.#slots.enter(signal);
    const transport = await this.#open();
    await transport.sendMail({
      from: { name: '', address: this.#from },
      to: { name: '', address: to },
      subject,
      text,
      // RFC 3834: an answering machine keeps still.
      headers: { 'Auto-Submitted': 'auto-generated', ...stopHeaders(unsubscribe) },
      ...(messageId === undefined ? {} : { messageId: `<${messageId}>` }),
      xMailer: false,
      signal,
    });
  }

  /** The library is loaded with the first mail: most processes of a node never send one. */
  #open(): Promise<Transporter> {
    this.#transport ??= import('nodemailer').then(({ createTransport }) => createTransport(this.#options));
    return this.#transport;
  }
}

function stopHeaders(unsubscribe: string | undefined): Readonly<Record<string, string>> {
  if (unsubscribe === undefined) return {};
  return { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

function transportOptions({ host, port, tls, login }: MailConfig, limits: MailLimits): SMTPTransportOptions {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true },
    // Without `forceAuth` a server that offers no login would be used without one.
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password }, forceAuth: true }),
    dnsTimeout: limits.dnsMs,
    connectionTimeout: limits.connectMs,
    greetingTimeout: limits.greetingMs,
    socketTimeout: limits.silenceMs,
    socketCloseTimeout: HANG_UP_MS,
    maxResponseSize: MAX_REPLY,
    // A mail is text alone; nothing of it is ever read from a file or fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Nothing may end a header line or an SMTP command early, and nothing may be rewritten on the way. */
function refuseUnsafe({ to, subject, text, messageId = '', unsubscribe = '' }: Mail): void {
  if (!isMailAddress(to)) throw new MailError('refused', 'the recipient is not a mail address');
  if (subject.length > MAX_SUBJECT || CONTROL.test(subject) || !subject.isWellFormed()) {
    throw new MailError('refused', `a subject is one line of at most ${MAX_SUBJECT} characters`);
  }
  if (!IN_BRACKETS.test(messageId) || !IN_BRACKETS.test(unsubscribe)) {
    throw new MailError('refused', 'an address in a header is visible ASCII without brackets');
  }
  if (text.length > MAX_TEXT || CONTROL_BUT_TAB_AND_NEWLINE.test(text) || !text.isWellFormed()) {
    throw new MailError('refused', `a mail is plain text of at most ${MAX_TEXT} characters`);
  }
}

/** What the library throws, without the texts in it. */
function mailErrorOf(thrown: unknown): MailError {
  if (thrown instanceof MailError) return thrown;
  if (!isNodemailerError(thrown)) return new MailError('unreachable', 'the mail server cannot be used');
  const { code = '', originalCode = code, responseCode: reply = null } = thrown;
  if (reply === null) return new MailError('unreachable', `the mail server cannot be used (${originalCode})`);
  if (isAboutTheMail(thrown)) return new MailError('refused', `the mail server refused the mail with ${reply}`, reply);
  return new MailError('unreachable', `the mail server cannot be used now (${code}, it answered ${reply})`, reply);
}

/** For good, and about the recipient or the content: a sender or a login that is refused is the operator's affair. */
function isAboutTheMail({ code, permanent = false, command, responseCode }: NodemailerError): boolean {
  const aboutAccess = command === 'MAIL FROM' || ACCESS_REPLIES.has(responseCode ?? 0);
  return permanent && !aboutAccess && (code === 'EENVELOPE' || code === 'EMESSAGE');
}

function isNodemailerError(thrown: unknown): thrown is NodemailerError {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string';
}
