import { addressKey } from '../../limits/client-address.ts';
import { LimitError } from '../../limits/limit-error.ts';
import { retryAfter } from '../../limits/limit-headers.ts';
import { SlidingWindow, type WindowState } from '../../limits/sliding-window.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Sign-ups from one address (IPv6: one /64) in any hour. */
export const PER_ADDRESS_AND_HOUR = 10;
/** Mails to one recipient in any day, so that nobody can be flooded through this node. */
export const PER_EMAIL_AND_DAY = 5;
/** Sign-ups in any hour, wherever they come from: what a mail server may be burdened with. */
const PER_HOUR = 1_000;

/** Addresses, and recipients, whose times are kept apart. */
const MAX_SUBJECTS = 20_000;
const EVERYONE = 'everyone';

/** Bounds who may have mails sent, how often and to whom. In memory: a restart forgets, and memory has a bound. */
export class SignUpLimits {
  readonly #now: () => number;
  readonly #addresses = new SlidingWindow({ windowMs: HOUR_MS, maxSubjects: MAX_SUBJECTS });
  readonly #emails = new SlidingWindow({ windowMs: DAY_MS, maxSubjects: MAX_SUBJECTS });
  readonly #all = new SlidingWindow({ windowMs: HOUR_MS, maxSubjects: 1 });

  /** `now` is a steady clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts one sign-up, or none where one of the limits is reached. Throws `LimitError`. */
  admit(address: string, emailDigest: string): void {
    const now = this.#now();
    const windows = [
      { window: this.#addresses, subject: addressKey(address), limit: PER_ADDRESS_AND_HOUR },
      { window: this.#emails, subject: emailDigest, limit: PER_EMAIL_AND_DAY },
      { window: this.#all, subject: EVERYONE, limit: PER_HOUR },
    ];
    for (const { window, subject, limit } of windows) refuseFull(window.look(subject, limit, now));
    for (const { window, subject, limit } of windows) refuseFull(window.take(subject, limit, now));
  }
}

function refuseFull({ allowed, retryAfterSeconds }: WindowState): void {
  if (allowed) return;
  const headers = retryAfter(retryAfterSeconds);
  throw new LimitError('rate-limited', 'Too many sign-ups from here, to this address, or on this node.', headers);
}
