import { type MailReader, OWNER } from '../../../protocol/api/people.ts';
import { createHmac } from 'node:crypto';
import type { Logger } from 'pino';
import type { MailAlertsRequest } from '../../../protocol/api/mail-alerts.ts';
import { type AlertEvent } from '../../../protocol/api/webhooks.ts';
import { isJsonArray } from '../../../protocol/json/value.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { People } from '../../accounts/people/people.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AlertRefusal } from '../alert-refusal.ts';
import type { Alert } from '../alert.ts';
import { type MailAlert, mailAlertTable, noticeTable } from './mail-alert-tables.ts';
import { noticeLine } from './notice-lines.ts';

/** Notices that wait for one mail; of what is found beyond them only the number is kept. */
export const MAX_NOTICES = 1_000;
/** Subject of the row that counts. */
const COUNTED = 'counted';

export interface MailAlertsOptions {
  readonly store: Store;
  readonly auditLog: Pick<AuditLog, 'recordWith'>;
  readonly people: Pick<People, 'welcome'>;
  /** Null where the node sends no mail. */
  readonly mailer: object | null;
  /** 32 bytes from the node's key file: the addresses that stop mails are derived from it. */
  readonly payloadKey: Uint8Array;
  /**
   * When the copy was taken that this store comes from; null where it is none. Mails that are as old may have been
   * stopped since, and the copy does not know.
   */
  readonly copiedAt: Timestamp | null;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Who is told of what by mail: the owner of an account, and each of its people, at the address that they read already.
 * All are in memory too. Notices are written with what was found, and wait for the next mail.
 */
export class MailAlerts {
  readonly #options: MailAlertsOptions;
  readonly #locks = new KeyedLock<string>();
  readonly #stopKey: Uint8Array;
  readonly #byToken = new Map<string, MailAlert>();
  /** Rows of notices of each, by the same token. */
  readonly #waiting = new Map<string, number>();

  private constructor(options: MailAlertsOptions) {
    this.#options = options;
    this.#stopKey = createHmac('sha256', options.payloadKey).update('meridian/mail-stop/1\0').digest();
  }

  /** Ends those that an older copy of the store brought back. */
  static async open(options: MailAlertsOptions): Promise<MailAlerts> {
    const { store, copiedAt, log } = options;
    const opened = new MailAlerts(options);
    let ended = 0;
    for await (const [, alert] of mailAlertTable.under(store, [])) {
      if (copiedAt !== null && Date.parse(alert.createdAt) <= Date.parse(copiedAt)) {
        await store.write(await opened.#removal(alert));
        ended++;
        continue;
      }
      opened.#remember(alert);
      const notices = noticeTable.under(store, [alert.account, alert.recipient]);
      opened.#waiting.set(opened.tokenOf(alert), await Array.fromAsync(notices).then((rows) => rows.length));
    }
    if (ended > 0) log.warn({ ended }, 'mails of alerts ended with the copy: they have to be asked for again');
    return opened;
  }

  /** Who is written to for a caller: the person whose key it is, or the owner. */
  async recipientOf({ account, key }: Caller): Promise<MailReader> {
    const { holder = OWNER } = key;
    if (holder === OWNER) return OWNER;
    return (await this.#options.people.welcome(account.id, holder))?.id ?? OWNER;
  }

  /** What somebody is told of; undefined where it is nothing. */
  find(account: string, recipient: MailReader): MailAlert | undefined {
    return this.#byToken.get(this.tokenOf({ account, recipient }));
  }

  /** All that there are. */
  all(): readonly MailAlert[] {
    return [...this.#byToken.values()];
  }

  /** Accounts of which somebody is told of one of these events, and since when (epoch milliseconds). */
  listeners(...events: readonly AlertEvent[]): ReadonlyMap<string, number> {
    const since = new Map<string, number>();
    for (const alert of this.#byToken.values()) {
      if (!events.some((event) => alert.events.includes(event))) continue;
      const createdAt = Date.parse(alert.createdAt);
      since.set(alert.account, Math.min(since.get(alert.account) ?? createdAt, createdAt));
    }
    return since;
  }

  /** Whether something waits for a mail to somebody. */
  hasNotices(alert: MailAlert): boolean {
    return (this.#waiting.get(this.tokenOf(alert)) ?? 0) > 0;
  }

  /** Sets what somebody of the caller's account is told of. Throws `AlertRefusal` `no-mail-address`. */
  async set({ account, key }: Caller, recipient: MailReader, { events, every }: MailAlertsRequest): Promise<MailAlert> {
    const { mailer, now } = this.#options;
    if (mailer === null || (recipient === OWNER && account.email === undefined)) {
      throw new AlertRefusal('no-mail-address', 'This node sends no mail, or the account has no mail address.');
    }
    return this.#locks.exclusive(account.id, async () => {
      const old = this.find(account.id, recipient);
      const before = old ?? { createdAt: timestampOf(now()), mailedAt: null };
      const fresh: MailAlert = {
        account: account.id,
        recipient,
        events: [...events],
        every,
        createdAt: before.createdAt,
        mailedAt: before.mailedAt,
        failures: 0,
        lastError: null,
        notBefore: 0,
      };
      await this.#record(fresh, 'mail-alerts.set', key.id, [mailAlertTable.put([account.id, recipient], fresh)]);
      this.#remember(fresh);
      return fresh;
    });
  }

  /** Ends what somebody of the caller's account is told of; where that is nothing, nothing is changed. */
  async delete({ account, key }: Caller, recipient: MailReader): Promise<void> {
    await this.#end({ account: account.id, recipient }, key.id);
  }

  /** Ends the mails to whoever has the address that stops them: it is in each mail, and good for ever. */
  async stop(token: string): Promise<void> {
    const alert = this.#byToken.get(token);
    if (alert !== undefined) await this.#end(alert, 'mail');
  }

  /** Of the address that stops the mails to somebody: 32 bytes, base64url. */
  tokenOf({ account, recipient }: Pick<MailAlert, 'account' | 'recipient'>): string {
    return createHmac('sha256', this.#stopKey).update(`${account}\0${recipient}`).digest('base64url');
  }

  /**
   * The rows by which everybody of an account who listens is told in the next mail. To be written before anything else
   * of alerts is.
   */
  async operations({ account, event, subject, data }: Alert): Promise<Operation[]> {
    const operations: Operation[] = [];
    for (const alert of this.#byToken.values()) {
      if (alert.account !== account || !alert.events.includes(event)) continue;
      const isCounted = event === 'record.confirmed' || (this.#waiting.get(this.tokenOf(alert)) ?? 0) >= MAX_NOTICES;
      if (isCounted) operations.push(await this.#counted(alert, event, countOf(data.attestationIds)));
      else operations.push(await this.#notice(alert, event, subject, noticeLine(event, data)));
    }
    return operations;
  }

  /** What came of a mail. `operations`: take away what it said. To be written under the lock of alerts. */
  noted(after: MailAlert, removed: number, operations: readonly Operation[]): readonly Operation[] {
    const token = this.tokenOf(after);
    // It may have been ended meanwhile.
    if (!this.#byToken.has(token)) return operations;
    this.#byToken.set(token, after);
    this.#waiting.set(token, Math.max(0, (this.#waiting.get(token) ?? 0) - removed));
    return [...operations, mailAlertTable.put([after.account, after.recipient], after)];
  }

  /** Ends the mails to somebody who is of the account no more. */
  async forget(alert: MailAlert): Promise<void> {
    await this.#end(alert, 'node');
  }

  /** In the place of one that waits under the same subject: what is in a new state again. */
  async #notice(alert: MailAlert, event: AlertEvent, subject: string, line: string): Promise<Operation> {
    const parts = [alert.account, alert.recipient, event, subject];
    const token = this.tokenOf(alert);
    const isNew = (await noticeTable.get(this.#options.store, ...parts)) === undefined;
    if (isNew) this.#waiting.set(token, (this.#waiting.get(token) ?? 0) + 1);
    return noticeTable.put(parts, { foundAt: timestampOf(this.#options.now()), line, count: 1 });
  }

  async #counted(alert: MailAlert, event: AlertEvent, count: number): Promise<Operation> {
    const parts = [alert.account, alert.recipient, event, COUNTED];
    const before = await noticeTable.get(this.#options.store, ...parts);
    const token = this.tokenOf(alert);
    if (before === undefined) this.#waiting.set(token, (this.#waiting.get(token) ?? 0) + 1);
    const foundAt = before?.foundAt ?? timestampOf(this.#options.now());
    return noticeTable.put(parts, { foundAt, line: null, count: (before?.count ?? 0) + count });
  }

  #end(place: Pick<MailAlert, 'account' | 'recipient'>, by: string): Promise<void> {
    return this.#locks.exclusive(place.account, async () => {
      const token = this.tokenOf(place);
      const alert = this.#byToken.get(token);
      if (alert === undefined) return;
      await this.#record(alert, 'mail-alerts.ended', by, await this.#removal(alert));
      this.#byToken.delete(token);
      this.#waiting.delete(token);
    });
  }

  async #removal({ account, recipient }: MailAlert): Promise<readonly Operation[]> {
    const notices = await Array.fromAsync(noticeTable.under(this.#options.store, [account, recipient]));
    return [
      mailAlertTable.del(account, recipient),
      ...notices.map(([[event = '', subject = '']]) => noticeTable.del(account, recipient, event, subject)),
    ];
  }

  async #record(alert: MailAlert, action: string, by: string, operations: readonly Operation[]): Promise<void> {
    const facts = { action, address: null, by, requestId: null, status: null, subject: alert.recipient };
    await this.#options.auditLog.recordWith(alert.account, [facts], operations);
  }

  #remember(alert: MailAlert): void {
    this.#byToken.set(this.tokenOf(alert), alert);
  }
}

function countOf(ids: Alert['data'][string] | undefined): number {
  return ids !== undefined && isJsonArray(ids) ? ids.length : 1;
}
