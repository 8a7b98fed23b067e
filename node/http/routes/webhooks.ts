import Type from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  DEFAULT_DELIVERIES_PAGE,
  DELIVERY_HOURS,
  DeliveriesAnswerShape,
  DeliveriesQueryShape,
  DeletedWebhookAnswerShape,
  DeliveryIdShape,
  MadeWebhookAnswerShape,
  MAX_DELIVERIES_PAGE,
  ReplayedAnswerShape,
  SECRET_OVERLAP_HOURS,
  WebhookIdShape,
  WebhookRequestShape,
  WEBHOOKS_EXAMPLE,
  WebhooksAnswerShape,
} from '../../../protocol/api/webhooks.ts';
import type { Caller } from '../../accounts/caller.ts';
import { AlertRefusal } from '../../alerts/alert-refusal.ts';
import type { Deliveries } from '../../alerts/deliveries.ts';
import { deliveryAnswer, type Webhook, webhookAnswer } from '../../alerts/webhook-tables.ts';
import type { IssuedWebhook, Webhooks } from '../../alerts/webhooks.ts';
import { readJsonBody } from '../body.ts';
import { type AddressOf, requireHome } from '../home-only.ts';
import { fieldError, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { FilteredCursor } from '../page-cursor.ts';
import type { Answer, KeyRoute } from '../route.ts';
import { validator } from '../validation.ts';
import { requireWholeAccount } from '../whole-account.ts';

const PATH = '/v1/webhooks';
const BODY = { maxBytes: 16 << 10 };
const ID = { id: { description: 'Id of the webhook.', shape: WebhookIdShape, example: EXAMPLE_IDS.webhook } };
const DELIVERY_ID = {
  ...ID,
  deliveryId: { description: 'Id of the delivery.', shape: DeliveryIdShape, example: EXAMPLE_IDS.delivery },
};
const LIMIT = DeliveriesQueryShape.properties.limit;
const CURSOR = new FilteredCursor(Type.Tuple([DeliveryIdShape]), [EXAMPLE_IDS.delivery]);
const validate = validator(WebhookRequestShape);
const readQuery = queryReader(DeliveriesQueryShape);

export interface WebhookRouteServices {
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly addressOf: AddressOf;
}

/** `/v1/webhooks` (api-rules §2.11): where an account wants to be told of what, and what became of it. */
export function webhookRoutes(services: WebhookRouteServices): readonly KeyRoute[] {
  return [
    createRoute(services),
    listRoute(services),
    deleteRoute(services),
    rotateRoute(services),
    deliveriesRoute(services),
    replayRoute(services),
  ];
}

function createRoute({ webhooks, addressOf }: WebhookRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: PATH,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Has the node tell an address of events',
      description:
        'By Standard Webhooks: each delivery is signed with the secret, which is shown once. Bodies hold ids and states ' +
        `alone. What is not answered by 2xx is tried for ${DELIVERY_HOURS} hours, under the same \`webhook-id\`; 410 ends ` +
        'the webhook. No redirect is followed, and no address reached that is not of the public network.',
      request: { shape: WebhookRequestShape, example: WEBHOOKS_EXAMPLE.request },
      answer: { shape: MadeWebhookAnswerShape, example: WEBHOOKS_EXAMPLE.made },
      problems: ['missing-field', 'invalid-field', 'too-many-webhooks', 'home-only'],
    },
    async answer({ context }, caller) {
      requireHome(caller, addressOf);
      requireWhole(caller);
      const request = validate((await readJsonBody(context.req, BODY)).value);
      return madeAnswer(await done(() => webhooks.create(caller.account.id, request, caller.key.id)));
    },
  };
}

function listRoute({ webhooks }: WebhookRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: PATH,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'The webhooks of the account at this node',
      description: 'The oldest first. Not for a key that is limited to sources or to a period.',
      answer: { shape: WebhooksAnswerShape, example: WEBHOOKS_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      requireWhole(caller);
      return { body: { success: true, webhooks: webhooks.list(caller.account.id).map(webhookAnswer) } };
    },
  };
}

function deleteRoute({ webhooks }: WebhookRouteServices): KeyRoute {
  return {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Ends a webhook',
      description: 'With all that was and is to be delivered to it.',
      params: ID,
      answer: { shape: DeletedWebhookAnswerShape, example: WEBHOOKS_EXAMPLE.deleted },
      problems: ['webhook-not-found'],
    },
    async answer({ params: { id = '' } }, caller) {
      requireWhole(caller);
      await done(() => webhooks.delete(caller.account.id, id, caller.key.id));
      return { body: { success: true, webhookId: id } };
    },
  };
}

function rotateRoute({ webhooks }: WebhookRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: `${PATH}/:id/rotate`,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Gives a webhook another secret',
      description: `It is shown once. For ${SECRET_OVERLAP_HOURS} hours both sign each delivery.`,
      params: ID,
      answer: { shape: MadeWebhookAnswerShape, example: WEBHOOKS_EXAMPLE.made },
      problems: ['webhook-not-found'],
    },
    async answer({ params: { id = '' } }, caller) {
      requireWhole(caller);
      return madeAnswer(await done(() => webhooks.rotate(caller.account.id, id, caller.key.id)));
    },
  };
}

function deliveriesRoute({ webhooks, deliveries }: WebhookRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: `${PATH}/:id/deliveries`,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'What was delivered to a webhook, and what is to be',
      description: 'The newest first, for seven days. Not for a key that is limited to sources or to a period.',
      params: ID,
      query: {
        cursor: CURSOR.parameter,
        limit: { description: `At most ${MAX_DELIVERIES_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: DeliveriesAnswerShape, example: WEBHOOKS_EXAMPLE.deliveries },
      problems: ['invalid-field', 'webhook-not-found'],
    },
    async answer({ params: { id = '' }, query }, caller) {
      requireWhole(caller);
      const { account } = caller;
      const { cursor, limit = DEFAULT_DELIVERIES_PAGE } = readQuery(query);
      const [before] = CURSOR.read(cursor, { webhook: id }) ?? [];
      const webhook = requireWebhook(webhooks, account.id, id);
      const found = await deliveries.list(webhook.id, before, limit + 1);
      const items = found.slice(0, limit).map(deliveryAnswer);
      const last = items.at(-1)?.deliveryId;
      const nextCursor = found.length > limit && last !== undefined ? CURSOR.write([last], { webhook: id }) : null;
      return { body: { success: true, items, nextCursor } };
    },
  };
}

function replayRoute({ webhooks, deliveries }: WebhookRouteServices): KeyRoute {
  return {
    method: 'POST',
    path: `${PATH}/:id/deliveries/:deliveryId/replay`,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Sends a delivery again',
      description: 'The same body under the same `webhook-id`, tried for another day.',
      params: DELIVERY_ID,
      answer: { shape: ReplayedAnswerShape, example: WEBHOOKS_EXAMPLE.replayed },
      problems: ['webhook-not-found', 'delivery-not-found'],
    },
    async answer({ params: { id = '', deliveryId = '' } }, caller) {
      requireWhole(caller);
      const webhook = requireWebhook(webhooks, caller.account.id, id);
      const delivery = await done(() => deliveries.replay(webhook, deliveryId));
      return { body: { success: true, delivery: deliveryAnswer(delivery) } };
    },
  };
}

/** No key that is limited to a part of the account makes, sees or changes a webhook. Throws `Problem` 403. */
function requireWhole(caller: Caller): void {
  requireWholeAccount(caller, 'A webhook tells of the whole account');
}

function requireWebhook(webhooks: Webhooks, account: string, id: string): Webhook {
  const found = webhooks.find(account, id);
  if (found === undefined) throw new Problem('webhook-not-found', 'There is no webhook of this id.');
  return found;
}

function madeAnswer({ webhook, secret }: IssuedWebhook): Answer {
  return { body: { success: true, webhookId: webhook.id, secret, webhook: webhookAnswer(webhook) } };
}

/** What webhooks refuse is a problem of the caller's. */
async function done<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AlertRefusal)) throw error;
    const { code, message } = error;
    if (code !== 'webhook-url-refused') throw new Problem(code, message);
    throw new Problem('invalid-field', message, { errors: [fieldError(['url'], 'address', message)] });
  }
}
