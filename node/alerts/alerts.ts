import { type AlertEvent, MAX_ALERT_IDS } from '../../protocol/api/webhooks.ts';
import { isJsonArray, type JsonObject } from '../../protocol/json/value.ts';
import { timestampOf } from '../../protocol/time.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import type { Alert } from './alert.ts';
import type { Deliveries } from './deliveries.ts';
import type { MailAlerts } from './mail/mail-alerts.ts';
import { alertMarkTable } from './webhook-tables.ts';
import type { Webhooks } from './webhooks.ts';

export interface AlertsOptions {
  readonly store: Store;
  readonly webhooks: Pick<Webhooks, 'listeners'>;
  readonly deliveries: Pick<Deliveries, 'operations' | 'wake'>;
  readonly mailAlerts: Pick<MailAlerts, 'listeners' | 'operations'>;
  readonly now: () => number;
}

/**
 * Tells accounts of what was found, once, by webhook and by mail: the mark that it was found and all by which somebody
 * is told are one write, and one such write follows the other.
 */
export class Alerts {
  readonly #options: AlertsOptions;
  readonly #locks = new KeyedLock();

  constructor(options: AlertsOptions) {
    this.#options = options;
  }

  /** Accounts of which somebody is told of one of these events, and since when (epoch milliseconds). */
  listeners(...events: readonly AlertEvent[]): ReadonlyMap<string, number> {
    const { webhooks, mailAlerts } = this.#options;
    const since = new Map(webhooks.listeners(...events));
    for (const [account, at] of mailAlerts.listeners(...events)) {
      since.set(account, Math.min(since.get(account) ?? at, at));
    }
    return since;
  }

  /** Tells whoever of the account listens; nobody, where it was told before. */
  async tell(alert: Alert): Promise<void> {
    const { account, event, subject } = alert;
    await this.write(async () => {
      if ((await alertMarkTable.get(this.#options.store, account, event, subject)) !== undefined) return [];
      const operations = await this.operations(alert);
      if (operations.length === 0) return [];
      return [alertMarkTable.put([account, event, subject], timestampOf(this.#options.now())), ...operations];
    });
  }

  /**
   * Tells accounts of something of the node's that is in a new state; nobody, where it is the state that was told of
   * last, or the first that is known.
   */
  async tellState(accounts: Iterable<string>, alert: Omit<Alert, 'account'>, state: string): Promise<void> {
    const { event, subject } = alert;
    await this.write(async () => {
      const known = await alertMarkTable.get(this.#options.store, ALL, event, subject);
      if (known === state) return [];
      const operations: Operation[] = [alertMarkTable.put([ALL, event, subject], state)];
      if (known === undefined) return operations;
      for (const account of accounts) operations.push(...(await this.operations({ account, ...alert })));
      return operations;
    });
  }

  /** The rows by which everybody of the account who listens is told; none where nobody does. For `write` alone. */
  async operations(alert: Alert): Promise<readonly Operation[]> {
    const { deliveries, mailAlerts } = this.#options;
    const { account, event, data } = alert;
    const parts = partsOf(data).flatMap((part) => deliveries.operations(account, event, part));
    return [...parts, ...(await mailAlerts.operations(alert))];
  }

  /** Writes what `make` reads and makes, while nobody else writes of alerts. */
  async write(make: () => Promise<readonly Operation[]>): Promise<void> {
    await this.#locks.exclusive('write', async () => {
      const operations = await make();
      if (operations.length === 0) return;
      await this.#options.store.write(operations);
      this.#options.deliveries.wake();
    });
  }
}

/** One delivery holds a bounded number of ids. */
function partsOf(data: JsonObject): readonly JsonObject[] {
  const { attestationIds } = data;
  if (attestationIds === undefined || !isJsonArray(attestationIds)) return [data];
  const count = Math.max(1, Math.ceil(attestationIds.length / MAX_ALERT_IDS));
  return Array.from({ length: count }, (_, part) => ({
    ...data,
    attestationIds: attestationIds.slice(part * MAX_ALERT_IDS, (part + 1) * MAX_ALERT_IDS),
  }));
}

/** Stands in the place of an account: of what is no account's own. */
export const ALL = 'all';
