import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { paymentCheck } from '../../../node/fsck/check-payments.ts';
import { settlementCheck } from '../../../node/fsck/check-settlements.ts';
import { Report } from '../../../node/fsck/report.ts';
import { PaymentCipher } from '../../../node/payments/payment-cipher.ts';
import { Store } from '../../../node/store/store.ts';
import { TestChain } from '../../fixtures/chain.ts';
import { signAuthorization } from '../../fixtures/chain-payer.ts';
import { freePort } from '../../fixtures/ports.ts';
import { NODE, temporaryDirectory } from '../intake/intake-fixture.ts';
import { buyNote, NOTE_PRICE, noteHeader } from './note-shop.ts';
import { PAYLOAD_KEY } from './payment-fixture.ts';

const SHOP = join(import.meta.dirname, 'shop-process.ts');
const KILLS = 3;
const PAYMENTS_BETWEEN = 24;
/** Longest time from the first payment to the kill. In milliseconds. */
const MAX_RUN_MS = 160;
const RETRIES = 100;

interface Shop {
  kill(): Promise<void>;
}

async function open(...args: readonly string[]): Promise<Shop> {
  const child = spawn(process.execPath, [SHOP, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  await Promise.race([once(lines, 'line'), ended.then(() => assert.unreachable('the shop did not open'))]);
  return {
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Everything that was answered for each payment. */
class Answers {
  readonly #texts = new Map<string, Set<string>>();

  async ask(port: number, header: string): Promise<boolean> {
    const answer = await buyNote(port, header).catch(() => undefined);
    if (answer?.status !== 200) return false;
    const text = await answer.text().catch(() => undefined);
    if (text !== undefined) this.#texts.set(header, (this.#texts.get(header) ?? new Set()).add(text));
    return text !== undefined;
  }

  get all(): ReadonlySet<string>[] {
    return [...this.#texts.values()];
  }
}

test('a node killed again and again while it is paid: every payment is charged once and answered with one answer', async () => {
  await using directory = await temporaryDirectory();
  await using chain = await TestChain.start();
  const wallet = await chain.wallet();
  const port = await freePort();
  const args = [directory.path, String(port), chain.rpcUrl, chain.payTo, chain.key()];
  const answers = new Answers();
  const headers: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const shop = await open(...args);
    const fresh = await Promise.all(
      Array.from({ length: PAYMENTS_BETWEEN }, async () => {
        const signed = await signAuthorization(wallet, { to: chain.payTo, value: NOTE_PRICE });
        return noteHeader(signed, port, chain.payTo);
      }),
    );
    headers.push(...fresh);
    const asking = fresh.map((header) => answers.ask(port, header));
    await sleep(Math.random() * MAX_RUN_MS);
    await shop.kill();
    await Promise.all(asking);
  }
  const atOnce = answers.all.length;

  const shop = await open(...args);
  for (const header of headers) {
    let isAnswered = false;
    for (let retry = 0; retry < RETRIES && !isAnswered; retry++) {
      isAnswered = await answers.ask(port, header);
      if (!isAnswered) await sleep(50);
    }
    assert.ok(isAnswered, 'a payment has no answer');
  }
  await shop.kill();
  const texts = answers.all;
  assert.ok(atOnce < headers.length, 'every payment was answered before its kill: nothing was tested');
  assert.is(texts.length, headers.length);
  assert.ok(
    texts.every(({ size }) => size === 1),
    'a payment has two answers',
  );
  const distinct = new Set(texts.map((text) => [...text].join()));
  assert.is(distinct.size, headers.length, 'two payments have one answer');
  assert.is(await chain.balanceOf(chain.payTo), NOTE_PRICE * BigInt(headers.length));

  await using store = await Store.open(join(directory.path, 'store'));
  const records = await Array.fromAsync(store.range({ gte: 'record/', lt: 'record0' }));
  assert.is(records.length, headers.length, 'a payment made its record twice');
  const report = new Report();
  const held = new PaymentCipher(PAYLOAD_KEY);
  const check = { store, report, keys: null, own: NODE, cipher: null, agentKeys: null, held, signal: undefined };
  await paymentCheck.run(check);
  await settlementCheck.run(check);
  assert.equal(report.findings, []);
  assert.equal([report.counts.settlements, report.counts.recordsPrepared], [headers.length, 0]);
});

test.run();
