import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MILLISECOND } from '../../../cluster/ledger/consensus-time.ts';
import { ended, forkLedger } from './ledger-process.ts';
import { NodeClient, restIdOf } from './node-client.ts';
import { fetchJson, postFaults, temporaryDirectory, waitUntil } from './running-ledger.ts';
import { messageTo, newPayer, signedTransaction, topicCreation } from './signed-transaction.ts';

const TOPIC = 5_001n;
/** Each sends message after message until the ledger is killed. */
const SENDERS = 20;
const payer = newPayer();
let lastStart = 0n;

test('what a receipt or the mirror has shown survives SIGKILL, and nothing is taken twice', async () => {
  await using home = await temporaryDirectory();
  const shown: Uint8Array[] = [];
  for (let life = 0; life < 3; life++) {
    const process = await forkLedger(home.path, payer);
    using node = new NodeClient(process.nodes[0] ?? '');
    if (life === 0) await settle(node, 'createTopic', transaction(topicCreation()));
    for (const known of shown) {
      assert.is(await node.submit('submitMessage', known), 'DUPLICATE_TRANSACTION');
      assert.is(await node.receiptStatus(known), 'SUCCESS');
      assert.is((await fetchJson(`${process.mirrorUrl}/api/v1/transactions/${restIdOf(known)}`)).status, 200);
    }
    const first = Promise.withResolvers<void>();
    const senders = Array.from({ length: SENDERS }, async (_, i) => {
      for (let turn = 0; ; turn++) {
        const bytes = transaction(messageTo(TOPIC, Buffer.from(`${life}/${i}/${turn}`)));
        await settle(node, 'submitMessage', bytes);
        shown.push(bytes);
        first.resolve();
      }
    });
    const cutOff = Promise.allSettled(senders);
    await Promise.race([first.promise, cutOff]);
    await ended(process.child, () => process.child.kill('SIGKILL'));
    for (const sender of await cutOff) {
      assert.match(sender.status === 'rejected' ? String(sender.reason) : sender.status, /UNAVAILABLE/);
    }
  }
  const process = await forkLedger(home.path, payer);
  const texts = await textsOf(process.mirrorUrl, TOPIC);
  assert.is(new Set(texts).size, texts.length, 'each message once');
  assert.ok(shown.length >= 3 && texts.length >= shown.length);
  await ended(process.child, () => process.child.kill('SIGTERM'));
});

test('ends soon after SIGTERM, of SIGINT and of its parent, also with calls hanging', async () => {
  await using home = await temporaryDirectory();
  for (const end of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    const { child, nodes, mirrorUrl } = await forkLedger(home.path, payer);
    using node = new NodeClient(nodes[0] ?? '');
    await postFaults(mirrorUrl, { hangAfterAccept: 1 });
    const hanging = node.submit('createTopic', transaction(topicCreation())).catch(() => 'cut off');
    await sleep(50);
    const took = await ended(child, () => (end === 'disconnect' ? child.disconnect() : child.kill(end)));
    assert.ok(took < 5_000, `${end}: ${took} ms`);
    assert.is(await hanging, 'cut off');
    assert.is(child.exitCode, 0);
  }
});

test('refuses production, flags it does not know, ports the SDK treats specially, and bad accounts', async () => {
  await using home = await temporaryDirectory();
  await assertRefused(forkLedger(home.path, payer, { NODE_ENV: 'production' }), /refused in production/);
  await assertRefused(forkLedger(home.path, payer, {}, ['--colour', 'red']), /Unknown option/);
  await assertRefused(forkLedger(home.path, payer, {}, ['--mirror', '50211']), /50211/);
  const accounts = join(home.path, 'other.json');
  for (const entry of [{ account: '0.0.1001' }, { account: '0.0.1001', ed25519: 'ff', tinybars: '1' }, 7]) {
    await writeFile(accounts, JSON.stringify([entry]));
    await assertRefused(forkLedger(home.path, payer, {}, ['--accounts', accounts]), /entry 0 is not/);
  }
});

test('refuses a home that another ledger is using', async () => {
  await using home = await temporaryDirectory();
  await mkdir(join(home.path, 'store'), { recursive: true });
  const { child } = await forkLedger(home.path, payer);
  await assertRefused(forkLedger(home.path, payer), /lock/i);
  await ended(child, () => child.kill('SIGTERM'));
});

/** A transaction with a start of its own. */
function transaction(body: Parameters<typeof signedTransaction>[2]): Uint8Array {
  const now = BigInt(Date.now() - 1_000) * MILLISECOND;
  lastStart = now > lastStart ? now : lastStart + 1n;
  return signedTransaction(payer, lastStart, body);
}

async function settle(node: NodeClient, method: 'createTopic' | 'submitMessage', bytes: Uint8Array): Promise<void> {
  assert.is(await node.submit(method, bytes), 'OK');
  await waitUntil(async () => (await node.receiptStatus(bytes)) === 'SUCCESS');
}

/** Of every message of a topic. */
async function textsOf(mirrorUrl: string, topic: bigint): Promise<string[]> {
  const texts: string[] = [];
  for (;;) {
    const after = `limit=100&sequencenumber=gt:${texts.length}`;
    const { body } = await fetchJson(`${mirrorUrl}/api/v1/topics/0.0.${topic}/messages?${after}`);
    assert.ok(typeof body === 'object' && body !== null && 'messages' in body && Array.isArray(body.messages));
    if (body.messages.length === 0) return texts;
    for (const { message } of body.messages) texts.push(Buffer.from(message, 'base64').toString());
  }
}

async function assertRefused(start: Promise<unknown>, reason: RegExp): Promise<void> {
  try {
    await start;
  } catch (error) {
    assert.match(String(error), reason);
    return;
  }
  assert.unreachable('it should not have started');
}

test.run();
