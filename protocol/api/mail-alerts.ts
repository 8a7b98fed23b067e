import Type, { type Static } from 'typebox';
import { Closed, OrNull, TimestampShape } from '../shapes.ts';
import { EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { ALERT_EVENTS } from './webhooks.ts';

/** How often notices are gathered into a mail. */
export const DIGEST_PERIODS = ['hour', 'day'] as const;
export type DigestPeriod = (typeof DIGEST_PERIODS)[number];

/** Of the address by which mails are stopped: 256 bits, base64url. */
export const STOP_TOKEN_PATTERN = '^[A-Za-z0-9_-]{43}$';

/** `PUT /v1/mail-alerts`. */
export const MailAlertsRequestShape = Closed({
  events: Type.Array(Type.Enum([...ALERT_EVENTS]), {
    minItems: 1,
    maxItems: ALERT_EVENTS.length,
    uniqueItems: true,
  }),
  /** A mail gathers what was found in it; where nothing was, none is sent. */
  every: Type.Enum([...DIGEST_PERIODS]),
});
export type MailAlertsRequest = Readonly<Static<typeof MailAlertsRequestShape>>;

/** What the owner of an account, or one of its people, is told of by mail. */
export const MailAlertsShape = Closed(
  {
    /** `owner`: who reads the account's own mail; else the id of a person. */
    recipient: Type.String(),
    events: Type.Array(Type.Enum([...ALERT_EVENTS])),
    every: Type.Enum([...DIGEST_PERIODS]),
    createdAt: TimestampShape,
    /** When the last mail was taken; null before the first. */
    mailedAt: OrNull(TimestampShape),
    /** Why the last mail was not taken; null where it was. It is tried again. */
    lastError: OrNull(Type.Enum(['refused', 'unreachable'])),
  },
  { title: 'MailAlerts' },
);
export type MailAlertsAnswer = Readonly<Static<typeof MailAlertsShape>>;

const success = Type.Literal(true);

export const MailAlertsAnswerShape = Closed({ success, mailAlerts: MailAlertsShape });
/** `GET /v1/mail-alerts`: null where nothing is mailed. */
export const ShownMailAlertsAnswerShape = Closed({ success, mailAlerts: OrNull(MailAlertsShape) });
export const StoppedMailAlertsAnswerShape = Closed({ success });

const EXAMPLE = {
  recipient: 'owner',
  events: ['incident.due-soon', 'incident.overdue', 'review.due'],
  every: 'day',
  createdAt: EXAMPLE_SUBMITTED_AT,
  mailedAt: null,
  lastError: null,
} as const;

export const MAIL_ALERTS_EXAMPLE = {
  request: { events: [...EXAMPLE.events], every: EXAMPLE.every },
  shown: { success: true, mailAlerts: { ...EXAMPLE, events: [...EXAMPLE.events] } },
  stopped: { success: true },
} as const;
