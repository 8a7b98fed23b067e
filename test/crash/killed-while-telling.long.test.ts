import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TestMailSink } from '../fixtures/mail-sink.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { Receiver } from '../node/alerts/receiver.ts';
import type { Moment, RowWrite } from './death.ts';
import { VictimProcess } from './victim-process.ts';
import { PEER, VICTIM } from './write-path.ts';

const HOUR_MS = 3_600_000;
const MOMENTS: readonly Moment[] = ['during', 'after'];
/** What a node finds and sends as it starts is done by then. In milliseconds. */
const LOOKS_MS = 8_000;
const ADA = 'ada@example.org';

const scratch = await mkdtemp(join(tmpdir(), 'crash-'));
const sink = await TestMailSink.start();
const network = await TestNetwork.start({
  nodes: [VICTIM, PEER],
  asleep: [VICTIM],
  quorum: 1,
  ledger: 'local',
  config: { mail: sink.config, batchIntervalMs: 150, logLevel: 'silent' },
});
const node = network.node(VICTIM);
const receiver = await Receiver.start();
let aheadMs = 0;
let victim = await started();
test.after(async () => {
  await victim[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

async function started(): Promise<VictimProcess> {
  const next = new VictimProcess(scratch);
  await next.start(node.config, join(scratch, 'mark.json'), aheadMs);
  return next;
}

async function killed(): Promise<void> {
  await victim.kill();
  victim = await started();
}

/** Kills it, has one die at a write, and starts it again. */
async function killedAt(write: RowWrite, moment: Moment): Promise<void> {
  await victim.kill();
  const dying = new VictimProcess(scratch);
  await dying.startToDie(node.config, aheadMs, write, moment);
  victim = await started();
}

/** Which delivery told of which record. */
function told(): ReadonlyMap<string, ReadonlySet<string>> {
  const deliveries = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.received) {
    for (const id of Object(JSON.parse(body)).data.attestationIds) {
      const of = deliveries.get(id) ?? new Set();
      deliveries.set(id, of.add(String(headers['webhook-id'])));
    }
  }
  return deliveries;
}

const ids: string[] = [];

async function attest(): Promise<void> {
  ids.push(await node.attest({ case: ids.length }));
}

async function requireEachByOneDelivery(): Promise<void> {
  await until('all to be told of', () => ids.every((id) => told().has(id)));
  assert.equal(new Set(ids.map((id) => told().get(id)?.size)), new Set([1]));
}

test('each confirmed record is told of, by one delivery, wherever the node is killed', async () => {
  const { status, text } = await node.post('/v1/webhooks', { url: receiver.url, events: ['record.confirmed'] });
  assert.is(status, 200, text);

  // While the receiver hangs: what was sent may have been taken, or not.
  receiver.answer = () => {};
  await attest();
  await until('a first attempt', () => receiver.received.length > 0);
  await killed();

  // After an answer, which may not be written yet.
  receiver.answer = (response) => response.writeHead(204).end();
  await attest();
  await until('a second one', () => told().has(ids[1] ?? ''));
  await killed();

  // Between the confirmation and the look for it.
  await attest();
  await until('it to be confirmed', async () => (await node.get(`/v1/status/${ids[2]}`)).body.status === 'confirmed');
  await killed();
  await requireEachByOneDelivery();
});

for (const moment of MOMENTS) {
  for (const [what, write] of [
    ['that a batch was found confirmed, and what is to be delivered', { change: 'put', prefix: 'told-batch/' }],
    ['what became of an attempt', { change: 'del', prefix: 'delivery-due/' }],
  ] as const) {
    test(`a node that dies ${moment} the write of ${what} tells of it by one delivery`, async () => {
      await attest();
      await killedAt(write, moment);
      await requireEachByOneDelivery();
    });
  }
}

test('a node that dies at any write of a mail sends it at least once, and always under the same Message-ID', async () => {
  const signUp = await node.post('/v1/sign-up', { email: ADA }, { key: null });
  assert.is(signUp.status, 200, signUp.text);
  const [key = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(ADA)).text) ?? [];
  const wanted = JSON.stringify({ events: ['key.expiring'], every: 'hour' });
  assert.is((await node.send('PUT', '/v1/mail-alerts', wanted, { key })).status, 200);
  for (const moment of MOMENTS) {
    for (const change of ['put', 'del'] as const) {
      const expiresAt = new Date(Date.now() + aheadMs + 24 * HOUR_MS).toISOString();
      const made = await node.post('/v1/keys', { preset: 'ingest', expiresAt }, { key });
      const id = String(Object(made.body.key).id);
      // What is found waits for an hour; what waits is mailed.
      if (change === 'del') aheadMs += 1.1 * HOUR_MS;
      const isDead = await diesAt({ change, prefix: 'mail-notice/' }, moment);
      if (change === 'del') assert.ok(isDead, 'a mail was noted');
      const mails = await mailsOf(id);
      const isRepeated = change === 'del' && moment === 'during';
      assert.is(mails.length, isRepeated ? 2 : 1, `${moment} ${change}`);
      assert.is(new Set(mails).size, 1, 'one Message-ID');
    }
  }
});

/**
 * Has it die at a write that its looks come to as it starts: what one finds is there for the next. False where it never
 * does, since the write was made before.
 */
async function diesAt(write: RowWrite, moment: Moment): Promise<boolean> {
  await victim.kill();
  let isDead = false;
  for (let starts = 0; starts < 3 && !isDead; starts++) {
    const dying = new VictimProcess(scratch);
    const death = dying.startToDie(node.config, aheadMs, write, moment).then(
      () => true,
      () => false,
    );
    isDead = await Promise.race([death, sleep(LOOKS_MS, false)]);
    await dying.kill();
  }
  victim = await started();
  return isDead;
}

/** Message-IDs of the mails that say something of a key: an hour later, and again, until there is one. */
async function mailsOf(id: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let hours = 0; hours < 5 && found.length === 0; hours++) {
    aheadMs += 1.1 * HOUR_MS;
    await killed();
    for (let mail = await nextMail(); mail !== undefined; mail = await nextMail()) {
      if (mail.text.includes(id)) found.push(mail.headers.get('message-id') ?? '');
    }
  }
  return found;
}

function nextMail() {
  return sink.waitForMail(ADA, LOOKS_MS / 2).catch(() => undefined);
}

test.run();
