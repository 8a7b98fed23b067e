import Type, { type Static } from 'typebox';
import {
  ALERT_EVENTS,
  DELIVERY_STATES,
  type DeliveryAnswer,
  type DeliveryId,
  DeliveryIdShape,
  isDeliveryId,
  isWebhookId,
  type WebhookAnswer,
  type WebhookId,
  WebhookIdShape,
} from '../../protocol/api/webhooks.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Closed, CountShape, OrdinalShape, OrNull, TimestampShape } from '../../protocol/shapes.ts';
import { timestampOf } from '../../protocol/time.ts';
import { freshId } from '../records/record-id.ts';
import type { Operation } from '../store/operation.ts';
import { jsonTable, numberCodec, Table, textCodec } from '../store/table.ts';

const WebhookRowShape = Closed({
  id: WebhookIdShape,
  account: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.Enum([...ALERT_EVENTS])),
  /** Which of its secrets is the last: secrets are derived from it, and stand in no row. */
  generation: OrdinalShape,
  createdAt: TimestampShape,
  rotatesUntil: OrNull(TimestampShape),
  disabledAt: OrNull(TimestampShape),
});
export type Webhook = Readonly<Static<typeof WebhookRowShape>>;

const DeliveryRowShape = Closed({
  id: DeliveryIdShape,
  webhook: WebhookIdShape,
  account: Type.String(),
  event: Type.Enum([...ALERT_EVENTS]),
  /** What is sent, the same at each attempt. */
  body: Type.String(),
  state: Type.Enum([...DELIVERY_STATES]),
  createdAt: TimestampShape,
  attempts: CountShape,
  /** Epoch milliseconds: of the next attempt, and of when there is none any more. */
  nextAt: CountShape,
  until: CountShape,
  lastStatus: OrNull(CountShape),
  lastError: OrNull(Type.String()),
  deliveredAt: OrNull(TimestampShape),
});
export type Delivery = Readonly<Static<typeof DeliveryRowShape>>;

/** (account, webhook) → where it leads, and what it is told of. */
export const webhookTable = jsonTable('webhook', WebhookRowShape);
/** (webhook, delivery) → what is sent, and what became of it. */
export const deliveryTable = jsonTable('delivery', DeliveryRowShape);
/** (next attempt in epoch milliseconds, webhook, delivery) → account. Of those that are pending. */
export const deliveryDueTable = new Table('delivery-due', textCodec);
/** (account, event, subject) → when it was told of: nothing is told of twice. */
export const alertMarkTable = new Table('alert-mark', textCodec);
/** (node) → last own batch whose confirmation was told of. */
export const toldBatchTable = new Table('told-batch', numberCodec);

export function newWebhookId(node: NodeId, epochMilliseconds: number): WebhookId {
  return freshId('whk', node, epochMilliseconds, isWebhookId);
}

export function newDeliveryId(node: NodeId, epochMilliseconds: number): DeliveryId {
  return freshId('whd', node, epochMilliseconds, isDeliveryId);
}

/** The rows of a delivery, in the place of those that it had. */
export function deliveryOperations(delivery: Delivery, before?: Delivery): Operation[] {
  const { id, webhook, account, state, nextAt } = delivery;
  const old = before?.state === 'pending' ? [deliveryDueTable.del(before.nextAt, webhook, id)] : [];
  const due = state === 'pending' ? [deliveryDueTable.put([nextAt, webhook, id], account)] : [];
  return [...old, ...due, deliveryTable.put([webhook, id], delivery)];
}

/** What takes those rows away. */
export function deliveryRemoval({ id, webhook, state, nextAt }: Delivery): Operation[] {
  const due = state === 'pending' ? [deliveryDueTable.del(nextAt, webhook, id)] : [];
  return [...due, deliveryTable.del(webhook, id)];
}

export function webhookAnswer({ id, url, events, createdAt, rotatesUntil, disabledAt }: Webhook): WebhookAnswer {
  return { webhookId: id, url, events: [...events], createdAt, rotatesUntil, disabledAt };
}

export function deliveryAnswer(delivery: Delivery): DeliveryAnswer {
  const { id, event, state, createdAt, attempts, nextAt, lastStatus, lastError, deliveredAt } = delivery;
  const nextAttemptAt = state === 'pending' ? timestampOf(nextAt) : null;
  return { deliveryId: id, event, state, createdAt, attempts, nextAttemptAt, lastStatus, lastError, deliveredAt };
}
