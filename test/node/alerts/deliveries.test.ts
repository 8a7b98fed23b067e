import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Deliveries } from '../../../node/alerts/deliveries.ts';
import { type Delivery, deliveryDueTable, deliveryTable, type Webhook } from '../../../node/alerts/webhook-tables.ts';
import { WebhookSecrets } from '../../../node/alerts/signature.ts';
import { MAX_WEBHOOKS, Webhooks } from '../../../node/alerts/webhooks.ts';
import { HttpError } from '../../../node/outbound/http-client.ts';
import type { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { until } from '../../fixtures/until.ts';
import { LogStore } from '../log/log-store.ts';

const NODE = nodeId('eu');
const HANGING = 'https://hangs.example/hook';
const PROMPT = 'https://prompt.example/hook';
const FAILING = 'https://fails.example/hook';
const LONG_QUEUE = 4_500;
/** Well below the time that a receiver may take to answer. In milliseconds. */
const SOON_MS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Two accounts: `first` has webhooks whose receivers never answer, `second` one whose receiver does at once. */
class World implements AsyncDisposable {
  readonly received: string[] = [];
  readonly webhooks: Webhooks;
  /** What a receiver that fails is asked for is answered once this resolves. */
  answering: Promise<void> = Promise.resolve();
  /** How far the node's clock is ahead. In milliseconds. */
  ahead = 0;
  isClockRight = true;
  readonly #logStore: LogStore;
  readonly #deliveries: Deliveries;

  private constructor(logStore: LogStore, webhooks: Webhooks) {
    this.#logStore = logStore;
    this.webhooks = webhooks;
    this.#deliveries = new Deliveries({
      store: logStore.store,
      node: NODE,
      webhooks,
      reach: 'public',
      now: () => Date.now() + this.ahead,
      isClockRight: () => this.isClockRight,
      random: () => 0,
      log: pino({ level: 'silent' }),
      post: async ({ href }, { signal }) => {
        this.received.push(href);
        if (href === PROMPT) return { status: 204, retryAfter: null };
        if (href === FAILING) {
          await this.answering;
          return { status: 500, retryAfter: null };
        }
        await sleep(600_000, undefined, { signal }).catch(() => undefined);
        throw new HttpError('aborted', 'was given up');
      },
    });
  }

  /** `beforeWrite`: awaited before a change of the webhooks is written. */
  static async start(hanging: number, beforeWrite = async () => {}): Promise<World> {
    const logStore = await LogStore.open();
    const webhooks = await Webhooks.open({
      store: logStore.store,
      node: NODE,
      secrets: new WebhookSecrets(Buffer.alloc(32, 7)),
      auditLog: {
        async recordWith(_account, _facts, operations) {
          await beforeWrite();
          await logStore.store.write(operations);
        },
      },
      reach: 'public',
      now: Date.now,
    });
    const events = ['key.expiring' as const];
    for (let n = 0; n < hanging; n++) await webhooks.create('first', { url: HANGING, events }, 'key');
    await webhooks.create('second', { url: PROMPT, events }, 'key');
    return new World(logStore, webhooks);
  }

  get store(): Store {
    return this.#logStore.store;
  }

  async tell(account: string, times = 1): Promise<void> {
    const operations = Array.from({ length: times }, (_, n) =>
      this.#deliveries.operations(account, 'key.expiring', { n }),
    );
    await this.store.write(operations.flat());
  }

  due(): Promise<readonly [readonly string[], string][]> {
    return Array.fromAsync(deliveryDueTable.under(this.store, []));
  }

  /** Sends what is due until the second account was told. */
  async sendUntilTold(): Promise<void> {
    this.#deliveries.start();
    await until('the second account to be told', () => this.received.includes(PROMPT), SOON_MS);
  }

  start(): void {
    this.#deliveries.start();
  }

  removeOld(): Promise<void> {
    return this.#deliveries.removeOld();
  }

  replay(webhook: Webhook, id: string): Promise<Delivery> {
    return this.#deliveries.replay(webhook, id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deliveries[Symbol.asyncDispose]();
    await this.#logStore[Symbol.asyncDispose]();
  }
}

test('as many receivers that hang as one account can name keep no other account waiting', async () => {
  await using world = await World.start(MAX_WEBHOOKS);
  await world.tell('first');
  await sleep(5);
  await world.tell('second');
  await world.sendUntilTold();
  assert.is(world.received.filter((url) => url === HANGING).length, MAX_WEBHOOKS);
});

test('several accounts, each with as many receivers that hang as it can name, keep no other account waiting', async () => {
  await using world = await World.start(0);
  for (let account = 0; account < 8; account++) {
    const name = `hostile-${account}`;
    for (let n = 0; n < MAX_WEBHOOKS; n++) {
      await world.webhooks.create(name, { url: HANGING, events: ['key.expiring'] }, 'key');
    }
    await world.tell(name, 2);
  }
  await sleep(5);
  await world.tell('second');
  await world.sendUntilTold();
  assert.ok(world.received.filter((url) => url === HANGING).length > MAX_WEBHOOKS, 'places are not left unused');
});

test('however much waits for a receiver that hangs, others are told', async () => {
  await using world = await World.start(1);
  await world.tell('first', LONG_QUEUE);
  await sleep(5);
  await world.tell('second');
  await world.sendUntilTold();
  assert.is(world.received.filter((url) => url === HANGING).length, 1);
});

test('of a webhook that is deleted while a delivery fails, nothing is due for ever', async () => {
  let beforeWrite = async () => {};
  await using world = await World.start(0, () => beforeWrite());
  const { webhook } = await world.webhooks.create('third', { url: FAILING, events: ['key.expiring'] }, 'key');
  const { promise, resolve } = Promise.withResolvers<void>();
  world.answering = promise;
  await world.tell('third');
  world.start();
  await until('the receiver to be asked', () => world.received.includes(FAILING));
  const attempts = async () =>
    (await Array.fromAsync(deliveryTable.under(world.store, [webhook.id]))).map(([, delivery]) => delivery.attempts);
  // The rows that are deleted were read before the attempt was noted, and are written after it.
  beforeWrite = async () => {
    resolve();
    await until('the attempt to be noted', async () => (await attempts())[0] === 1);
  };
  await world.webhooks.delete('third', webhook.id, 'key');
  assert.equal(await attempts(), []);
  await until('nothing to be due', async () => (await world.due()).length === 0, SOON_MS);
});

test('an old delivery that is sent again while old ones are removed is sent', async () => {
  await using world = await World.start(0);
  await world.tell('second');
  await world.sendUntilTold();
  await until('the attempt to be noted', async () => (await world.due()).length === 0, SOON_MS);
  const [webhook] = world.webhooks.list('second');
  const [[, delivery] = []] = await Array.fromAsync(deliveryTable.under(world.store, []));
  if (webhook === undefined || delivery === undefined) throw new Error('nothing was delivered');
  world.ahead = 8 * DAY_MS;
  await Promise.all([world.removeOld(), world.replay(webhook, delivery.id)]);
  await until('it to be sent again', () => world.received.length === 2, SOON_MS);
});

test('the day of tries counts by a clock that is right, and what another one put off is sent at once', async () => {
  await using world = await World.start(0);
  await world.webhooks.create('third', { url: FAILING, events: ['key.expiring'] }, 'key');
  await world.tell('third');
  const noted = async () => (await Array.fromAsync(deliveryTable.under(world.store, [])))[0]?.[1];
  const stateAfter = async (attempts: number) => {
    await until(`attempt ${attempts}`, async () => ((await noted())?.attempts ?? 0) >= attempts, SOON_MS);
    return (await noted())?.state;
  };
  world.ahead = DAY_MS + HOUR_MS;
  world.isClockRight = false;
  world.start();
  assert.is(await stateAfter(1), 'pending');
  world.ahead = 0;
  world.isClockRight = true;
  assert.is(await stateAfter(2), 'pending');
  world.ahead = DAY_MS + HOUR_MS;
  assert.is(await stateAfter(3), 'failed');
});

test('what became of deliveries is not removed while the clock is not known to be right', async () => {
  await using world = await World.start(0);
  await world.tell('second');
  await world.sendUntilTold();
  await until('the attempt to be noted', async () => (await world.due()).length === 0, SOON_MS);
  const kept = async () => (await Array.fromAsync(deliveryTable.under(world.store, []))).length;
  world.ahead = 8 * DAY_MS;
  world.isClockRight = false;
  await world.removeOld();
  assert.is(await kept(), 1);
  world.isClockRight = true;
  await world.removeOld();
  assert.is(await kept(), 0);
});

test('a row of what is not due any more is taken away, and costs no look after the other', async () => {
  await using world = await World.start(0);
  await world.tell('second');
  const [[at = '', webhook = '', id = ''] = []] = (await world.due()).map(([parts]) => parts);
  await world.store.write([deliveryDueTable.put([Number(at) - 1, webhook, id], 'second')]);
  await world.sendUntilTold();
  await until('nothing to be due', async () => (await world.due()).length === 0, SOON_MS);
  assert.equal(world.received, [PROMPT], 'and is sent once');
});

test.run();
