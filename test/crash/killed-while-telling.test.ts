import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Receiver } from '../node/alerts/receiver.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { VictimProcess } from './victim-process.ts';
import { PEER, VICTIM } from './write-path.ts';

const scratch = await mkdtemp(join(tmpdir(), 'crash-'));
const network = await TestNetwork.start({
  nodes: [VICTIM, PEER],
  asleep: [VICTIM],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: 150, logLevel: 'silent' },
});
const node = network.node(VICTIM);
const receiver = await Receiver.start();
let victim = await started();
test.after(async () => {
  await victim[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

async function started(): Promise<VictimProcess> {
  const next = new VictimProcess(scratch);
  await next.start(node.config, join(scratch, 'mark.json'));
  return next;
}

async function killed(): Promise<void> {
  await victim.kill();
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

test('each confirmed record is told of, by one delivery, wherever the node is killed', async () => {
  const { status, text } = await node.post('/v1/webhooks', { url: receiver.url, events: ['record.confirmed'] });
  assert.is(status, 200, text);
  const ids: string[] = [];
  const attest = async (): Promise<void> => {
    ids.push(await node.attest({ case: ids.length }));
  };

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

  await until('all to be told of', () => ids.every((id) => told().has(id)));
  assert.equal(
    ids.map((id) => told().get(id)?.size),
    [1, 1, 1],
  );
});

test.run();
