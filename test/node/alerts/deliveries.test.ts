import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Deliveries } from '../../../node/alerts/deliveries.ts';
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
const LONG_QUEUE = 4_500;
/** Well below the time that a receiver may take to answer. In milliseconds. */
const SOON_MS = 10_000;

/** Two accounts: `first` has webhooks whose receivers never answer, `second` one whose receiver does at once. */
class World implements AsyncDisposable {
  readonly received: string[] = [];
  readonly #logStore: LogStore;
  readonly #deliveries: Deliveries;

  private constructor(logStore: LogStore, webhooks: Webhooks) {
    this.#logStore = logStore;
    this.#deliveries = new Deliveries({
      store: logStore.store,
      node: NODE,
      webhooks,
      reach: 'public',
      now: Date.now,
      random: () => 0,
      log: pino({ level: 'silent' }),
      post: async ({ href }, { signal }) => {
        this.received.push(href);
        if (href === PROMPT) return { status: 204, retryAfter: null };
        await sleep(600_000, undefined, { signal }).catch(() => undefined);
        throw new HttpError('aborted', 'was given up');
      },
    });
  }

  static async start(hanging: number): Promise<World> {
    const logStore = await LogStore.open();
    const webhooks = await Webhooks.open({
      store: logStore.store,
      node: NODE,
      secrets: new WebhookSecrets(Buffer.alloc(32, 7)),
      auditLog: { recordWith: (_account, _facts, operations) => logStore.store.write(operations) },
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

  /** Sends what is due until the second account was told. */
  async sendUntilTold(): Promise<void> {
    this.#deliveries.start();
    await until('the second account to be told', () => this.received.includes(PROMPT), SOON_MS);
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

test('however much waits for a receiver that hangs, others are told', async () => {
  await using world = await World.start(1);
  await world.tell('first', LONG_QUEUE);
  await sleep(5);
  await world.tell('second');
  await world.sendUntilTold();
  assert.is(world.received.filter((url) => url === HANGING).length, 1);
});

test.run();
