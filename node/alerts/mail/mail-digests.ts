import type { Logger } from 'pino';
import type { DigestPeriod } from '../../../protocol/api/mail-alerts.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { MailError, type Mailer } from '../../accounts/mail/mailer.ts';
import type { People } from '../../accounts/people/people.ts';
import { backoffDelay } from '../../concurrency/backoff.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import type { Alerts } from '../alerts.ts';
import { digestMail, isAlertEvent, type WaitingNotice } from './digest-mail.ts';
import { type MailAlert, type Notice, noticeTable } from './mail-alert-tables.ts';
import { MAX_NOTICES, type MailAlerts } from './mail-alerts.ts';

const HOUR_MS = 3_600_000;
/** In milliseconds. */
const PERIODS: Readonly<Record<DigestPeriod, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS };
/** Before a mail that was not taken is tried again. In milliseconds. */
const PAUSES = { firstMs: 60_000, mostMs: 6 * HOUR_MS };
/** Mails under way at the same time. */
const AT_ONCE = 4;

export interface MailDigestsOptions {
  readonly store: Store;
  readonly alerts: Pick<Alerts, 'write'>;
  readonly mailAlerts: MailAlerts;
  readonly people: Pick<People, 'addressOf'>;
  /** Null where the node sends no mail. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  readonly nodeUrl: () => string;
  readonly now: () => number;
  readonly isClockRight: () => boolean;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Sends what waits, to each reader one mail an hour or a day.
 *
 * Crash order: notices are taken away once their mail was taken. A node that is killed in between sends it again, under
 * the same Message-ID.
 */
export class MailDigests implements Disposable {
  readonly #options: MailDigestsOptions;
  readonly #ending = new AbortController();

  constructor(options: MailDigestsOptions) {
    this.#options = options;
  }

  /** Sends the mails that are due. */
  async look(): Promise<void> {
    const { mailAlerts, mailer, now, isClockRight } = this.#options;
    if (mailer === null || !isClockRight()) return;
    const due = mailAlerts.all().filter((alert) => mailAlerts.hasNotices(alert) && isDue(alert, now()));
    const sendNext = async (): Promise<void> => {
      for (let alert = due.shift(); alert !== undefined; alert = due.shift()) {
        if (this.#ending.signal.aborted) return;
        await this.#send(alert, mailer);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
  }

  /** Gives up the mails under way: they are sent at the next start. */
  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  async #send(alert: MailAlert, mailer: Pick<Mailer, 'send'>): Promise<void> {
    const { alerts, mailAlerts, nodeUrl, now, random, log } = this.#options;
    const { signal } = this.#ending;
    const to = await this.#options.people.addressOf(alert.account, alert.recipient);
    if (to === undefined) return mailAlerts.forget(alert);
    const notices = await this.#noticesOf(alert);
    if (notices.length === 0) return alerts.write(async () => mailAlerts.noted(alert, MAX_NOTICES + 1, []));
    const stopUrl = `${nodeUrl()}/stop-mail/${mailAlerts.tokenOf(alert)}`;
    try {
      await mailer.send(digestMail({ to, alert, notices, nodeUrl: nodeUrl(), stopUrl }), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof MailError)) throw error;
      log.warn({ err: error, account: alert.account }, 'a mail of alerts was not taken');
      const notBefore = now() + Math.round(backoffDelay(alert.failures, random(), PAUSES));
      const failed = { ...alert, failures: alert.failures + 1, lastError: error.code, notBefore };
      await alerts.write(async () => mailAlerts.noted(failed, 0, []));
      return;
    }
    const sent = { ...alert, failures: 0, lastError: null, mailedAt: timestampOf(now()), notBefore: 0 };
    await alerts.write(async () => this.#taken(sent, notices));
  }

  /** Takes away what the mail said. What was counted meanwhile waits for the next one. */
  async #taken(sent: MailAlert, notices: readonly WaitingNotice[]): Promise<readonly Operation[]> {
    const { store, mailAlerts } = this.#options;
    const { account, recipient } = sent;
    const operations: Operation[] = [];
    let removed = 0;
    for (const { event, subject, notice } of notices) {
      const parts = [account, recipient, event, subject];
      const now = await noticeTable.get(store, ...parts);
      const isGrown = now !== undefined && now.line === null && now.count > notice.count;
      if (isGrown) operations.push(noticeTable.put(parts, { ...now, count: now.count - notice.count }));
      else operations.push(noticeTable.del(...parts));
      if (!isGrown && now !== undefined) removed++;
    }
    return mailAlerts.noted(sent, removed, operations);
  }

  async #noticesOf({ account, recipient }: MailAlert): Promise<readonly WaitingNotice[]> {
    const notices: WaitingNotice[] = [];
    const rows = noticeTable.under(this.#options.store, [account, recipient]);
    for await (const [[event = '', subject = ''], notice] of rows) {
      if (isAlertEvent(event)) notices.push({ event, subject, notice });
    }
    return notices.toSorted(({ notice: a }, { notice: b }) => compare(a, b));
  }
}

/** Of one that would wait for longer than any does, the times are those of a clock that was ahead. */
function isDue({ every, createdAt, mailedAt, notBefore }: MailAlert, now: number): boolean {
  const at = Math.max(notBefore, Date.parse(mailedAt ?? createdAt) + PERIODS[every]);
  return at <= now || at > now + Math.max(PERIODS[every], PAUSES.mostMs);
}

function compare(a: Notice, b: Notice): number {
  return a.foundAt < b.foundAt ? -1 : a.foundAt > b.foundAt ? 1 : 0;
}
