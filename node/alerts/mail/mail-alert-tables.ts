import Type, { type Static } from 'typebox';
import { DIGEST_PERIODS, type MailAlertsAnswer } from '../../../protocol/api/mail-alerts.ts';
import type { MailReader } from '../../../protocol/api/people.ts';
import { ALERT_EVENTS } from '../../../protocol/api/webhooks.ts';
import { Closed, CountShape, OrdinalShape, OrNull, TimestampShape } from '../../../protocol/shapes.ts';
import { jsonTable } from '../../store/table.ts';

const MailAlertRowShape = Closed({
  account: Type.String(),
  recipient: Type.Unsafe<MailReader>(Type.String()),
  events: Type.Array(Type.Enum([...ALERT_EVENTS])),
  every: Type.Enum([...DIGEST_PERIODS]),
  createdAt: TimestampShape,
  mailedAt: OrNull(TimestampShape),
  /** Mails in a row that were not taken, and why the last one was not. */
  failures: CountShape,
  lastError: OrNull(Type.Enum(['refused', 'unreachable'])),
  /** Epoch milliseconds before which none is sent. */
  notBefore: CountShape,
});
export type MailAlert = Readonly<Static<typeof MailAlertRowShape>>;

const NoticeRowShape = Closed({
  foundAt: TimestampShape,
  /** What the mail says of it; null of what is only counted. */
  line: OrNull(Type.String()),
  count: OrdinalShape,
});
export type Notice = Readonly<Static<typeof NoticeRowShape>>;

/** (account, recipient) → of what somebody is told by mail, and how often. */
export const mailAlertTable = jsonTable('mail-alert', MailAlertRowShape);
/** (account, recipient, event, subject) → what the next mail says. */
export const noticeTable = jsonTable('mail-notice', NoticeRowShape);

export function mailAlertAnswer(alert: MailAlert): MailAlertsAnswer {
  const { recipient, events, every, createdAt, mailedAt, lastError } = alert;
  return { recipient, events: [...events], every, createdAt, mailedAt, lastError };
}
