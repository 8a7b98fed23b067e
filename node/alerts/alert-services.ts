import type { Logger } from 'pino';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import type { Reach } from '../outbound/network-addresses.ts';
import type { Store } from '../store/store.ts';
import type { AnchoringView } from '../verification/attestation/anchoring-view.ts';
import type { Evidence } from '../verification/evidence.ts';
import { Alerts } from './alerts.ts';
import { Calendars, type CalendarsOptions } from './calendar/calendars.ts';
import { DueCalendar } from './calendar/due-calendar.ts';
import { ConfirmedBatches } from './confirmed-batches.ts';
import { Deliveries, type DeliveriesOptions } from './deliveries.ts';
import { DueAlerts, type DueAlertsOptions } from './due-alerts.ts';
import { MailAlerts, type MailAlertsOptions } from './mail/mail-alerts.ts';
import { MailDigests, type MailDigestsOptions } from './mail/mail-digests.ts';
import { GapSearch, type GapSearchOptions } from './gap-search.ts';
import { WebhookSecrets } from './signature.ts';
import { Webhooks } from './webhooks.ts';

/** Between two looks for batches that are confirmed, for what is due, for what is missing,
 * for mails, and for what is old. In milliseconds. */
const CONFIRMED_LOOK_MS = 2_000;
const DUE_LOOK_MS = 60_000;
const GAP_LOOK_MS = 5_000;
const MAIL_LOOK_MS = 30_000;
const OLD_LOOK_MS = 3_600_000;

/** Who is told of what, and what finds it. */
export interface AlertServices {
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly confirmedBatches: ConfirmedBatches;
  readonly dueAlerts: DueAlerts;
  readonly gapSearch: GapSearch;
  readonly mailAlerts: MailAlerts;
  readonly mailDigests: MailDigests;
  readonly alertTasks: AlertTasks;
  readonly calendars: Calendars;
  readonly dueCalendar: DueCalendar;
}

interface AlertServicesOptions
  extends
    Omit<DueAlertsOptions, 'alerts'>,
    Pick<CalendarsOptions, 'accountStore' | 'copiedAt'>,
    Pick<MailDigestsOptions, 'mailer' | 'nodeUrl'>,
    Pick<GapSearchOptions, 'recordLists'>,
    Pick<DeliveriesOptions, 'isClockRight' | 'post' | 'random' | 'reach'> {
  readonly store: Store;
  readonly node: NodeId;
  readonly people: MailAlertsOptions['people'] & MailDigestsOptions['people'];
  readonly payloadKey: Uint8Array;
  readonly auditLog: AuditLog;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: Pick<AnchoringView, 'of'>;
  readonly reach: Reach;
  readonly log: Logger;
}

/** Opens the services of alerts. Nothing is looked for or sent before their tasks are started. */
export async function openAlertServices(options: AlertServicesOptions): Promise<AlertServices> {
  const { payloadKey, store, now } = options;
  const webhooks = await Webhooks.open({ ...options, secrets: new WebhookSecrets(payloadKey) });
  const deliveries = new Deliveries({ ...options, webhooks });
  const mailAlerts = await MailAlerts.open(options);
  const alerts = new Alerts({ store, webhooks, deliveries, mailAlerts, now });
  const finding = {
    confirmedBatches: new ConfirmedBatches({ ...options, alerts }),
    dueAlerts: new DueAlerts({ ...options, alerts }),
    gapSearch: new GapSearch({ ...options, alerts }),
    mailDigests: new MailDigests({ ...options, alerts, mailAlerts }),
  };
  return {
    webhooks,
    deliveries,
    mailAlerts,
    ...finding,
    alertTasks: new AlertTasks({ ...options, ...finding, deliveries }),
    calendars: await Calendars.open(options),
    dueCalendar: new DueCalendar(options),
  };
}

interface AlertTasksOptions extends Pick<
  AlertServices,
  'confirmedBatches' | 'deliveries' | 'dueAlerts' | 'gapSearch' | 'mailDigests'
> {
  readonly log: Logger;
}

/** What looks for something to tell, again and again, and sends it. */
export class AlertTasks implements AsyncDisposable {
  readonly #deliveries: Deliveries;
  readonly #mailDigests: MailDigests;
  readonly #tasks: readonly PeriodicTask<void>[];

  constructor({ deliveries, confirmedBatches, dueAlerts, gapSearch, mailDigests, log }: AlertTasksOptions) {
    const task = (pauseMs: number, look: () => Promise<void>): PeriodicTask<void> =>
      new PeriodicTask(pauseMs, () =>
        look().catch((error: unknown) =>
          log.warn({ err: error }, 'it could not be seen whether there is something to tell'),
        ),
      );
    this.#deliveries = deliveries;
    this.#mailDigests = mailDigests;
    this.#tasks = [
      task(CONFIRMED_LOOK_MS, () => confirmedBatches.look()),
      task(DUE_LOOK_MS, () => dueAlerts.look()),
      task(GAP_LOOK_MS, () => gapSearch.look()),
      task(MAIL_LOOK_MS, () => mailDigests.look()),
      task(OLD_LOOK_MS, () => deliveries.removeOld()),
    ];
  }

  start(): void {
    for (const task of this.#tasks) task.start();
    this.#deliveries.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#mailDigests[Symbol.dispose]();
    await Promise.all(this.#tasks.map((task) => task[Symbol.asyncDispose]()));
    await this.#deliveries[Symbol.asyncDispose]();
  }
}
