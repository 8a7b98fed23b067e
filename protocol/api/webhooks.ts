import Type, { type Static } from 'typebox';
import { idPattern } from '../ids.ts';
import { Closed, CountShape, CursorShape, OrNull, TimestampShape } from '../shapes.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/** What a webhook is told of. */
export const ALERT_EVENTS = [
  'record.confirmed',
  'anchor.delayed',
  'incident.due-soon',
  'incident.overdue',
  'review.due',
  'gap.found',
  'lock.expiring',
  'key.expiring',
  'list.updated',
  'misbehaviour.found',
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** Ids in one delivery at most. */
export const MAX_ALERT_IDS = 1_000;
/** How long an old secret signs beside the new one. In hours. */
export const SECRET_OVERLAP_HOURS = 24;
/** How long a delivery is tried. In hours. */
export const DELIVERY_HOURS = 24;
const MAX_URL = 2_048;
/** Deliveries of one page, where no number is asked for and at most. */
export const DEFAULT_DELIVERIES_PAGE = 50;
export const MAX_DELIVERIES_PAGE = 200;

export type WebhookId = string & { readonly __brand: 'WebhookId' };
export type DeliveryId = string & { readonly __brand: 'DeliveryId' };
const WEBHOOK_ID_PATTERN = idPattern('whk');
const DELIVERY_ID_PATTERN = idPattern('whd');
export const WebhookIdShape = Type.Unsafe<WebhookId>(Type.String({ pattern: WEBHOOK_ID_PATTERN }));
export const DeliveryIdShape = Type.Unsafe<DeliveryId>(Type.String({ pattern: DELIVERY_ID_PATTERN }));

const WEBHOOK_ID = new RegExp(WEBHOOK_ID_PATTERN);
const DELIVERY_ID = new RegExp(DELIVERY_ID_PATTERN);

export function isWebhookId(text: string): text is WebhookId {
  return WEBHOOK_ID.test(text);
}

export function isDeliveryId(text: string): text is DeliveryId {
  return DELIVERY_ID.test(text);
}

/** `POST /v1/webhooks`. */
export const WebhookRequestShape = Closed({
  /** `https`; where it leads is looked up at each delivery. */
  url: Type.String({ minLength: 1, maxLength: MAX_URL }),
  events: Type.Array(Type.Enum([...ALERT_EVENTS]), {
    minItems: 1,
    maxItems: ALERT_EVENTS.length,
    uniqueItems: true,
  }),
});
export type WebhookRequest = Readonly<Static<typeof WebhookRequestShape>>;

/** A webhook as its account sees it. Its secret is shown when it is made, and not here. */
export const WebhookShape = Closed(
  {
    webhookId: WebhookIdShape,
    url: Type.String(),
    events: Type.Array(Type.Enum([...ALERT_EVENTS])),
    createdAt: TimestampShape,
    /** Until when the secret before the last one signs too. */
    rotatesUntil: OrNull(TimestampShape),
    /** Its receiver answered 410: nothing is sent to it any more. */
    disabledAt: OrNull(TimestampShape),
  },
  { title: 'Webhook' },
);
export type WebhookAnswer = Readonly<Static<typeof WebhookShape>>;

const success = Type.Literal(true);
const secret = Type.String({ pattern: '^whsec_[A-Za-z0-9+/]{43}=$' });

/** `secret` is shown here and never again. */
export const MadeWebhookAnswerShape = Closed(
  { success, webhookId: WebhookIdShape, secret, webhook: WebhookShape },
  { title: 'MadeWebhook' },
);
export const WebhooksAnswerShape = Closed({ success, webhooks: Type.Array(WebhookShape) });
export const DeletedWebhookAnswerShape = Closed({ success, webhookId: WebhookIdShape });

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DeliveryShape = Closed(
  {
    /** The `webhook-id` of each of its attempts. */
    deliveryId: DeliveryIdShape,
    event: Type.Enum([...ALERT_EVENTS]),
    state: Type.Enum([...DELIVERY_STATES]),
    createdAt: TimestampShape,
    attempts: CountShape,
    /** Of one that is pending. */
    nextAttemptAt: OrNull(TimestampShape),
    /** What the last attempt was answered; null where it was not. */
    lastStatus: OrNull(CountShape),
    lastError: OrNull(Type.String()),
    deliveredAt: OrNull(TimestampShape),
  },
  { title: 'WebhookDelivery' },
);
export type DeliveryAnswer = Readonly<Static<typeof DeliveryShape>>;

/** `GET /v1/webhooks/:id/deliveries`: the newest first. */
export const DeliveriesQueryShape = Closed({
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DELIVERIES_PAGE })),
});
export const DeliveriesAnswerShape = Closed({
  success,
  items: Type.Array(DeliveryShape, { maxItems: MAX_DELIVERIES_PAGE }),
  nextCursor: OrNull(Type.String()),
});
export const ReplayedAnswerShape = Closed({ success, delivery: DeliveryShape });

const WEBHOOK_EXAMPLE = {
  webhookId: EXAMPLE_IDS.webhook,
  url: 'https://hooks.example/meridian',
  events: ['record.confirmed', 'incident.overdue', 'key.expiring'],
  createdAt: EXAMPLE_SUBMITTED_AT,
  rotatesUntil: null,
  disabledAt: null,
};
const DELIVERY_EXAMPLE = {
  deliveryId: EXAMPLE_IDS.delivery,
  event: 'record.confirmed',
  state: 'pending',
  createdAt: EXAMPLE_SUBMITTED_AT,
  attempts: 1,
  nextAttemptAt: '2026-11-21T09:30:08.000Z',
  lastStatus: 503,
  lastError: null,
  deliveredAt: null,
};
/** Of the form of a secret, and of nothing. */
const SECRET_EXAMPLE = `whsec_${'EXAMPLE'.repeat(6)}A=`;

export const WEBHOOKS_EXAMPLE = {
  request: { url: WEBHOOK_EXAMPLE.url, events: WEBHOOK_EXAMPLE.events },
  made: { success: true, webhookId: EXAMPLE_IDS.webhook, secret: SECRET_EXAMPLE, webhook: WEBHOOK_EXAMPLE },
  list: { success: true, webhooks: [WEBHOOK_EXAMPLE] },
  deleted: { success: true, webhookId: EXAMPLE_IDS.webhook },
  deliveries: { success: true, items: [DELIVERY_EXAMPLE], nextCursor: null },
  replayed: { success: true, delivery: { ...DELIVERY_EXAMPLE, attempts: 0, lastStatus: null } },
};
