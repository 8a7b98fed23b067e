import type { Logger } from 'pino';
import {
  type AlertEvent,
  DELIVERY_HOURS,
  type DeliveryId,
  isDeliveryId,
  isWebhookId,
  type WebhookId,
} from '../../protocol/api/webhooks.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import { timestampOf } from '../../protocol/time.ts';
import { HolderCounts } from '../accounts/limits/holder-counts.ts';
import { AutoResetEvent } from '../concurrency/auto-reset-event.ts';
import { backoffDelay } from '../concurrency/backoff.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { HttpError } from '../outbound/http-client.ts';
import type { Reach } from '../outbound/network-addresses.ts';
import { pinnedPost, type PinnedPost, type PostAnswer } from '../outbound/pinned-post.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { AlertRefusal } from './alert-refusal.ts';
import { signedHeaders } from './signature.ts';
import {
  type Delivery,
  deliveryDueTable,
  deliveryOperations,
  deliveryRemoval,
  deliveryTable,
  newDeliveryId,
  type Webhook,
} from './webhook-tables.ts';
import { MAX_WEBHOOKS, type Webhooks } from './webhooks.ts';

/** Sent at the same time, each to another webhook. An account has no more of these places than it leaves free. */
const AT_ONCE = 8 * MAX_WEBHOOKS;
/** Due ones that one look goes through for those. */
const MAX_LOOKED_AT = 2_000;
/** How long a receiver may take to answer. In milliseconds. */
const ANSWER_MS = 15_000;
const HOUR_MS = 3_600_000;
/** Before the next attempt. In milliseconds. */
const PAUSES = { firstMs: 5_000, mostMs: HOUR_MS };
/** Longest that a `Retry-After` puts off the next attempt. In milliseconds. */
const MAX_PUT_OFF_MS = 6 * HOUR_MS;
/** How long what became of a delivery is kept. In milliseconds. */
const KEPT_MS = 7 * 24 * HOUR_MS;
/** `until` of a delivery whose last attempt was made by a clock that is not known to be right. */
const NO_END = Number.MAX_SAFE_INTEGER;
/** Looks for due ones where nothing says that there is one. In milliseconds. */
const LOOK_MS = 1_000;
const GONE = 410;

export interface DeliveriesOptions {
  readonly store: Store;
  readonly node: NodeId;
  readonly webhooks: Webhooks;
  readonly reach: Reach;
  readonly now: () => number;
  /** Whether most members have the time that this node has: none is given up, and forgotten, by another clock. */
  readonly isClockRight: () => boolean;
  readonly random: () => number;
  readonly log: Logger;
  /** Default: over the network. */
  readonly post?: (url: URL, post: PinnedPost) => Promise<PostAnswer>;
}

/**
 * What is to be told, until it is: each delivery is tried for a day, under the same id, one after the other to each
 * webhook, so that a receiver that hangs keeps nobody else waiting. Accounts share the places: who has as many of them
 * as are free gets no other, so that several whose receivers hang leave some to the rest. The day counts by a clock that
 * is known to be right.
 *
 * Crash order: a delivery is on the disk, with the mark that it was found, before its first attempt; what became of an
 * attempt is written after it. A node that is killed in between sends it again, under the same id.
 */
export class Deliveries implements AsyncDisposable {
  readonly #options: DeliveriesOptions;
  readonly #locks = new KeyedLock<WebhookId>();
  readonly #ending = new AbortController();
  readonly #due = new AutoResetEvent();
  /** Webhooks that something is under way to. */
  readonly #busy = new Map<WebhookId, Promise<void>>();
  /** How many of these each account has. */
  readonly #held = new HolderCounts();
  /** Where the next look goes on, as it stands in the key; undefined: at the one that is due first. */
  #place: string | undefined;
  #running: Promise<void> | undefined;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** The rows by which everybody of an account who listens is told; none where nobody does. To be followed by `wake`. */
  operations(account: string, type: AlertEvent, data: JsonObject): Operation[] {
    const { node, now, webhooks } = this.#options;
    const at = now();
    const body = JSON.stringify({ type, timestamp: timestampOf(at), data });
    return webhooks.listening(account, type).flatMap(({ id }) =>
      deliveryOperations({
        id: newDeliveryId(node, at),
        webhook: id,
        account,
        event: type,
        body,
        state: 'pending',
        createdAt: timestampOf(at),
        attempts: 0,
        nextAt: at,
        until: this.#endOf(at),
        lastStatus: null,
        lastError: null,
        deliveredAt: null,
      }),
    );
  }

  /** Something is due. */
  wake(): void {
    this.#due.notify();
  }

  /** Of one webhook, the newest first, those before `before`. */
  async list(webhook: WebhookId, before: DeliveryId | undefined, limit: number): Promise<readonly Delivery[]> {
    const items: Delivery[] = [];
    const terms = { reverse: true, limit, ...(before === undefined ? {} : { before }) };
    for await (const [, delivery] of deliveryTable.under(this.#options.store, [webhook], terms)) items.push(delivery);
    return items;
  }

  /** Sends one again, under the same id, for another day. Throws `AlertRefusal` `delivery-not-found`. */
  async replay({ id: webhook }: Webhook, id: string): Promise<Delivery> {
    const { store, now } = this.#options;
    const again = await this.#locks.exclusive(webhook, async () => {
      const old = isDeliveryId(id) ? await deliveryTable.get(store, webhook, id) : undefined;
      if (old === undefined) throw new AlertRefusal('delivery-not-found', 'There is no delivery of this id.');
      const at = now();
      const times = { nextAt: at, until: this.#endOf(at) };
      const fresh: Delivery = { ...old, ...times, state: 'pending', attempts: 0, lastStatus: null, lastError: null };
      await store.write(deliveryOperations(fresh, old));
      return fresh;
    });
    this.wake();
    return again;
  }

  /** Removes what became of old ones. */
  async removeOld(): Promise<void> {
    const { store, now, isClockRight } = this.#options;
    if (!isClockRight()) return;
    const end = now() - KEPT_MS;
    const isOld = ({ createdAt, state }: Delivery): boolean => Date.parse(createdAt) < end && state !== 'pending';
    for await (const [, delivery] of deliveryTable.under(store, [])) {
      if (!isOld(delivery)) continue;
      await this.#locks.exclusive(delivery.webhook, async () => {
        // It may be sent again meanwhile.
        const row = await deliveryTable.get(store, delivery.webhook, delivery.id);
        if (row !== undefined && isOld(row)) await store.write(deliveryRemoval(row));
      });
    }
  }

  /** Gives up what is under way: it is sent again at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    this.wake();
    await this.#running;
    await Promise.all(this.#busy.values());
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#bringForward();
        await this.#beginDue();
      } catch (error) {
        this.#options.log.warn({ err: error }, 'webhooks that are due could not be read');
      }
      await this.#due.wait(LOOK_MS, signal);
    }
  }

  /** When a delivery that is tried at a time is given up. `before`: when it was to be given up so far. */
  #endOf(at: number, before = NO_END): number {
    return this.#options.isClockRight() ? Math.min(before, at + DELIVERY_HOURS * HOUR_MS) : NO_END;
  }

  /** Makes due whatever waits for longer than any pause: a clock that was ahead dated it. */
  async #bringForward(): Promise<void> {
    const { store, now, isClockRight } = this.#options;
    const at = now();
    if (!isClockRight()) return;
    const terms = { from: at + MAX_PUT_OFF_MS + 1, limit: MAX_LOOKED_AT };
    for await (const [[was = '', webhook = '', id = '']] of deliveryDueTable.under(store, [], terms)) {
      if (!isWebhookId(webhook) || !isDeliveryId(id) || this.#busy.has(webhook)) continue;
      await this.#locks.exclusive(webhook, async () => {
        const row = await deliveryTable.get(store, webhook, id);
        if (row?.state !== 'pending' || row.nextAt !== Number(was)) return;
        await store.write(deliveryOperations({ ...row, nextAt: at }, row));
      });
    }
  }

  /** Goes on where the look before ended, so that what waits behind a long queue has its turn. */
  async #beginDue(): Promise<void> {
    const { store, now } = this.#options;
    let looked = 0;
    const start = this.#place === undefined ? {} : { after: this.#place };
    const due = deliveryDueTable.under(store, [], { ...start, before: now() + 1 });
    for await (const [parts, account] of due) {
      if (this.#busy.size >= AT_ONCE || looked++ >= MAX_LOOKED_AT || this.#ending.signal.aborted) return;
      this.#place = parts.join('/');
      const [at = '', webhook = '', id = ''] = parts;
      const hook = this.#options.webhooks.find(account, webhook);
      if (hook === undefined) await this.#forget(Number(at), webhook, id);
      if (hook === undefined || this.#busy.has(hook.id) || !isDeliveryId(id)) continue;
      if (this.#held.of(account) >= AT_ONCE - this.#busy.size) continue;
      const held = this.#held.add(account);
      const sending = this.#send(hook, id, Number(at)).finally(() => {
        held[Symbol.dispose]();
        this.#busy.delete(hook.id);
        this.wake();
      });
      this.#busy.set(hook.id, sending);
    }
    this.#place = undefined;
  }

  /** What was found to tell, or was sent, while its webhook was being deleted. */
  async #forget(at: number, webhook: string, id: string): Promise<void> {
    const { store } = this.#options;
    const delivery = await deliveryTable.get(store, webhook, id);
    const removal = delivery === undefined ? [] : deliveryRemoval(delivery);
    await store.write([deliveryDueTable.del(at, webhook, id), ...removal]);
  }

  /** `at`: when it is due by the row that leads here; a row of nothing that is due then is taken away. Never rejects. */
  async #send(webhook: Webhook, id: DeliveryId, at: number): Promise<void> {
    const { store } = this.#options;
    try {
      const delivery = await deliveryTable.get(store, webhook.id, id);
      if (delivery?.state !== 'pending' || delivery.nextAt !== at) {
        await store.write([deliveryDueTable.del(at, webhook.id, id)]);
        return;
      }
      const outcome = await this.#attempt(webhook, delivery);
      if (this.#ending.signal.aborted && outcome.status === null) return;
      await this.#note(webhook, delivery, outcome);
    } catch (error) {
      this.#options.log.warn({ err: error, webhook: webhook.id }, 'what became of a delivery was not written');
    }
  }

  async #attempt(webhook: Webhook, { id, body }: Delivery): Promise<Outcome> {
    const { now, reach, webhooks, post = pinnedPost } = this.#options;
    if (webhook.disabledAt !== null) return { status: null, error: 'the webhook is disabled', putOffMs: 0 };
    const url = URL.parse(webhook.url);
    if (url === null) return { status: null, error: 'its address is none', putOffMs: 0 };
    try {
      const { status, retryAfter } = await post(url, {
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Meridian',
          ...signedHeaders(id, body, now(), webhooks.secretsOf(webhook)),
        },
        reach,
        timeoutMs: ANSWER_MS,
        signal: this.#ending.signal,
      });
      return { status, error: null, putOffMs: putOffBy(retryAfter, now()) };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return { status: null, error: error.code === 'late' ? error.message : 'it cannot be reached', putOffMs: 0 };
    }
  }

  async #note(webhook: Webhook, before: Delivery, { status, error, putOffMs }: Outcome): Promise<void> {
    const { store, now, random, webhooks } = this.#options;
    const isTaken = status !== null && status >= 200 && status < 300;
    const attempts = before.attempts + 1;
    const at = now();
    const nextAt = at + Math.max(Math.round(backoffDelay(before.attempts, random(), PAUSES)), putOffMs);
    const end = this.#endOf(at, before.until);
    const isOver = status === GONE || webhook.disabledAt !== null || nextAt > end;
    const state = isTaken ? 'delivered' : isOver ? 'failed' : 'pending';
    const deliveredAt = isTaken ? timestampOf(at) : null;
    const times = { nextAt, until: end, deliveredAt };
    const after: Delivery = { ...before, ...times, attempts, state, lastStatus: status, lastError: error };
    await this.#locks.exclusive(webhook.id, async () => {
      // It may have been deleted, or sent anew, meanwhile: what was decided then stands.
      const row = await deliveryTable.get(store, webhook.id, before.id);
      if (row !== undefined && row.nextAt === before.nextAt) await store.write(deliveryOperations(after, before));
    });
    if (status === GONE) await webhooks.disable(webhook.account, webhook.id);
  }
}

/** What came of an attempt: the status that was answered, or why there is none. */
interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
  /** By the receiver. In milliseconds. */
  readonly putOffMs: number;
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function putOffBy(retryAfter: string | null, now: number): number {
  if (retryAfter === null) return 0;
  const milliseconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now;
  return Number.isFinite(milliseconds) ? Math.min(MAX_PUT_OFF_MS, Math.max(0, milliseconds)) : 0;
}
