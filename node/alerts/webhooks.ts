import {
  type AlertEvent,
  isWebhookId,
  SECRET_OVERLAP_HOURS,
  type WebhookId,
  type WebhookRequest,
} from '../../protocol/api/webhooks.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { Reach } from '../outbound/network-addresses.ts';
import { mayReach } from '../outbound/network-addresses.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { AlertRefusal } from './alert-refusal.ts';
import type { WebhookSecrets } from './signature.ts';
import { deliveryRemoval, deliveryTable, newWebhookId, type Webhook, webhookTable } from './webhook-tables.ts';
import { isIP } from 'node:net';

/** Webhooks of one account. */
export const MAX_WEBHOOKS = 10;
const HOUR_MS = 3_600_000;

export interface WebhooksOptions {
  readonly store: Store;
  readonly node: NodeId;
  readonly secrets: WebhookSecrets;
  readonly auditLog: Pick<AuditLog, 'recordWith'>;
  /** Which addresses may be named. */
  readonly reach: Reach;
  readonly now: () => number;
}

/** A webhook and the secret that is shown once. */
export interface IssuedWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
}

/**
 * Where accounts want to be told of what. All webhooks are in memory too: whoever finds something to tell asks nobody
 * where nobody listens. A change lands with its line in the account's log in one atomic write.
 */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #locks = new KeyedLock<string>();
  readonly #byAccount = new Map<string, Map<WebhookId, Webhook>>();

  private constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  static async open(options: WebhooksOptions): Promise<Webhooks> {
    const webhooks = new Webhooks(options);
    for await (const [, webhook] of webhookTable.under(options.store, [])) webhooks.#remember(webhook);
    return webhooks;
  }

  /** Those of an account, oldest first. */
  list(account: string): readonly Webhook[] {
    return [...(this.#byAccount.get(account)?.values() ?? [])];
  }

  find(account: string, id: string): Webhook | undefined {
    return isWebhookId(id) ? this.#byAccount.get(account)?.get(id) : undefined;
  }

  /** Those of an account that are told of an event. */
  listening(account: string, event: AlertEvent): readonly Webhook[] {
    return this.list(account).filter(({ events, disabledAt }) => disabledAt === null && events.includes(event));
  }

  /** Accounts of which somebody is told of one of these events, and since when (epoch milliseconds). */
  listeners(...events: readonly AlertEvent[]): ReadonlyMap<string, number> {
    const since = new Map<string, number>();
    for (const account of this.#byAccount.keys()) {
      const found = events.flatMap((event) => this.listening(account, event));
      if (found.length > 0) since.set(account, Math.min(...found.map(({ createdAt }) => Date.parse(createdAt))));
    }
    return since;
  }

  /** Throws `AlertRefusal` `webhook-url-refused` and `too-many-webhooks`. */
  create(account: string, { url, events }: WebhookRequest, by: string): Promise<IssuedWebhook> {
    const { node, now, reach, secrets } = this.#options;
    requireUrl(url, reach);
    return this.#locks.exclusive(account, async () => {
      if (this.list(account).length >= MAX_WEBHOOKS) {
        throw new AlertRefusal('too-many-webhooks', `An account has at most ${MAX_WEBHOOKS} webhooks: delete one.`);
      }
      const webhook: Webhook = {
        id: newWebhookId(node, now()),
        account,
        url,
        events: [...events],
        generation: 1,
        createdAt: timestampOf(now()),
        rotatesUntil: null,
        disabledAt: null,
      };
      await this.#write(webhook, 'webhook.created', by, [webhookTable.put([account, webhook.id], webhook)]);
      return { webhook, secret: secrets.textOf(webhook.id, webhook.generation) };
    });
  }

  /** Gives a webhook another secret; the one before signs beside it for a day. Throws `AlertRefusal` `webhook-not-found`. */
  rotate(account: string, id: string, by: string): Promise<IssuedWebhook> {
    const { now, secrets } = this.#options;
    return this.#locks.exclusive(account, async () => {
      const old = this.#require(account, id);
      const rotatesUntil = timestampOf(now() + SECRET_OVERLAP_HOURS * HOUR_MS);
      const webhook = { ...old, generation: old.generation + 1, rotatesUntil };
      await this.#write(webhook, 'webhook.rotated', by, [webhookTable.put([account, webhook.id], webhook)]);
      return { webhook, secret: secrets.textOf(webhook.id, webhook.generation) };
    });
  }

  /** Ends a webhook, with all that was or is to be delivered. Throws `AlertRefusal` `webhook-not-found`. */
  delete(account: string, id: string, by: string): Promise<void> {
    return this.#locks.exclusive(account, async () => {
      const webhook = this.#require(account, id);
      const operations: Operation[] = [webhookTable.del(account, webhook.id)];
      for await (const [, delivery] of deliveryTable.under(this.#options.store, [webhook.id])) {
        operations.push(...deliveryRemoval(delivery));
      }
      const event = {
        action: 'webhook.deleted',
        address: null,
        by,
        requestId: null,
        status: null,
        subject: webhook.id,
      };
      await this.#options.auditLog.recordWith(account, [event], operations);
      this.#byAccount.get(account)?.delete(webhook.id);
    });
  }

  /** Its receiver wants nothing any more. */
  disable(account: string, id: WebhookId): Promise<void> {
    return this.#locks.exclusive(account, async () => {
      const old = this.find(account, id);
      if (old === undefined || old.disabledAt !== null) return;
      const webhook = { ...old, disabledAt: timestampOf(this.#options.now()) };
      await this.#write(webhook, 'webhook.disabled', 'node', [webhookTable.put([account, id], webhook)]);
    });
  }

  /** What signs a delivery now: the last secret, and the one before it while that still counts. */
  secretsOf({ id, generation, rotatesUntil }: Webhook): readonly Uint8Array[] {
    const { now, secrets } = this.#options;
    const isRotating = rotatesUntil !== null && now() < Date.parse(rotatesUntil);
    return [secrets.of(id, generation), ...(isRotating ? [secrets.of(id, generation - 1)] : [])];
  }

  #require(account: string, id: string): Webhook {
    const found = this.find(account, id);
    if (found === undefined) throw new AlertRefusal('webhook-not-found', 'There is no webhook of this id.');
    return found;
  }

  async #write(webhook: Webhook, action: string, by: string, operations: readonly Operation[]): Promise<void> {
    const facts = { action, address: null, by, requestId: null, status: null, subject: webhook.id };
    await this.#options.auditLog.recordWith(webhook.account, [facts], operations);
    this.#remember(webhook);
  }

  #remember(webhook: Webhook): void {
    const own = this.#byAccount.get(webhook.account) ?? new Map<WebhookId, Webhook>();
    this.#byAccount.set(webhook.account, own.set(webhook.id, webhook));
  }
}

/** What a name resolves to is looked at when it is asked: here an address that is written out. */
function requireUrl(text: string, reach: Reach): void {
  const url = URL.parse(text);
  const schemes = reach === 'private' ? ['https:', 'http:'] : ['https:'];
  if (url === null || !schemes.includes(url.protocol)) throw refusedUrl('is no https address');
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw refusedUrl('has a user, a password or a fragment in it');
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !mayReach(host, reach)) throw refusedUrl('is not of the public network');
}

function refusedUrl(message: string): AlertRefusal {
  return new AlertRefusal('webhook-url-refused', `url ${message}`);
}
