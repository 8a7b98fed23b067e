import { ADDRESS_ALLOWANCE, SIGN_IN_ALLOWANCE, SIGN_UP_ALLOWANCE } from '../limits/allowances.ts';
import { addressKey } from '../limits/client-address.ts';
import type { Holder } from '../limits/holder-counts.ts';
import { LimitError, retryAfter } from '../limits/limit-error.ts';
import { SlidingWindow, type WindowState } from '../limits/sliding-window.ts';

/**
 * `closed`: the operator turned sign-up off. `no-mail`: this node sends no mail. `email-invalid`: no address to write
 * to. `not-sent`: the mail was not taken; nothing was made or changed.
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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Addresses, and recipients, whose times are kept apart. */
const MAX_SUBJECTS = 20_000;
const EVERYONE = 'everyone';

/** What a subject may have in a window. */
interface Bound {
  readonly window: SlidingWindow;
  readonly subject: string;
  readonly limit: number;
}

/**
 * Bounds who may have mails of sign-ups, lost keys and sign-ins sent, how often and to whom. In memory: a restart forgets, and
 * memory has a bound.
 */
export class SignUpLimits {
  readonly #now: () => number;
  readonly #addresses = new SlidingWindow({ windowMs: HOUR_MS, maxSubjects: MAX_SUBJECTS });
  readonly #addressDays = new SlidingWindow({ windowMs: DAY_MS, maxSubjects: MAX_SUBJECTS });
  readonly #accounts = new SlidingWindow({ windowMs: DAY_MS, maxSubjects: MAX_SUBJECTS });
  readonly #emails = new SlidingWindow({ windowMs: DAY_MS, maxSubjects: MAX_SUBJECTS });
  readonly #signIns = new SlidingWindow({ windowMs: HOUR_MS, maxSubjects: MAX_SUBJECTS });
  readonly #signInPairs = new SlidingWindow({ windowMs: HOUR_MS, maxSubjects: MAX_SUBJECTS });
  readonly #signInRecipients = new SlidingWindow({ windowMs: DAY_MS, maxSubjects: MAX_SUBJECTS });
  readonly #all = new SlidingWindow({ windowMs: HOUR_MS, maxSubjects: 1 });
  readonly #allDays = new SlidingWindow({ windowMs: DAY_MS, maxSubjects: 1 });

  /** `now` is a steady clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts one sign-up or request for lost keys, or none where one of the limits is reached. Throws `LimitError`. */
  admit(address: string, emailDigest: string): void {
    const id = addressKey(address);
    const { signUpsPerHour, signUpsPerDay } = ADDRESS_ALLOWANCE;
    const { mailsPerRecipientAndDay, perHour, perDay } = SIGN_UP_ALLOWANCE;
    this.#admitAll({ kind: 'address', id }, [
      { window: this.#addresses, subject: id, limit: signUpsPerHour },
      { window: this.#addressDays, subject: id, limit: signUpsPerDay },
      { window: this.#emails, subject: emailDigest, limit: mailsPerRecipientAndDay },
      { window: this.#all, subject: EVERYONE, limit: perHour },
      { window: this.#allDays, subject: EVERYONE, limit: perDay },
    ]);
  }

  /**
   * Counts one request for a link to sign in. Those go to people of accounts alone, so the node's mail server is
   * burdened by as many as there are. Throws `LimitError`.
   */
  admitSignIn(address: string, emailDigest: string): void {
    const id = addressKey(address);
    const { perAddressAndHour, toOneRecipientAndHour, perRecipientAndDay } = SIGN_IN_ALLOWANCE;
    this.#admitAll({ kind: 'address', id }, [
      { window: this.#signIns, subject: id, limit: perAddressAndHour },
      { window: this.#signInPairs, subject: `${id} ${emailDigest}`, limit: toOneRecipientAndHour },
      { window: this.#signInRecipients, subject: emailDigest, limit: perRecipientAndDay },
    ]);
  }

  /** Counts one invitation by an account. Throws `LimitError`. */
  admitInvitation(account: string, recipientDigest: string): void {
    const { invitationsPerAccountAndDay, mailsPerRecipientAndDay, perHour, perDay } = SIGN_UP_ALLOWANCE;
    this.#admitAll({ kind: 'account', id: account }, [
      { window: this.#accounts, subject: account, limit: invitationsPerAccountAndDay },
      { window: this.#emails, subject: recipientDigest, limit: mailsPerRecipientAndDay },
      { window: this.#all, subject: EVERYONE, limit: perHour },
      { window: this.#allDays, subject: EVERYONE, limit: perDay },
    ]);
  }

  /** Counts in all of the windows, or in none. */
  #admitAll(holder: Holder, windows: readonly Bound[]): void {
    const now = this.#now();
    for (const { window, subject, limit } of windows) refuseFull(window.look(subject, limit, now), holder);
    for (const { window, subject, limit } of windows) refuseFull(window.take(subject, limit, now), holder);
  }
}

/** `holder`: who asks, who is told of, whichever limit it is. */
function refuseFull({ allowed, retryAfterSeconds }: WindowState, holder: Holder): void {
  if (allowed) return;
  const message = 'Too many mails were asked for from here, to this address, or on this node.';
  throw new LimitError('rate-limited', message, retryAfter(retryAfterSeconds), holder);
}
