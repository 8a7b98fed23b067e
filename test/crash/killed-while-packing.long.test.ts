import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { isJsonObject } from '../../protocol/json/value.ts';
import { judgePack } from '../../protocol/pack/judge-pack.ts';
import { nobleHash } from '../../protocol/suite/noble.ts';
import { sourceOf } from '../fixtures/judged-pack.ts';
import { packFile, settledPack } from '../fixtures/made-pack.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { VictimProcess } from './victim-process.ts';
import { PEER, VICTIM } from './write-path.ts';

/** Enough that a pack is marked as done in parts, several times. */
const BATCHES = 16;
const BATCH_RECORDS = 1_000;
/** With what some take for the end of a line. */
const SOURCE = 'loans\u2028north';

const scratch = await mkdtemp(join(tmpdir(), 'crash-'));
const network = await TestNetwork.start({
  nodes: [VICTIM, PEER],
  asleep: [VICTIM],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: 150, logLevel: 'silent' },
});
const node = network.node(VICTIM);
let victim = await started();
test.after(async () => {
  await victim[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

async function started(): Promise<VictimProcess> {
  const next = new VictimProcess(scratch);
  await next.start(node.config, join(scratch, 'mark.json'));
  return next;
}

async function progressOf(
  id: string,
): Promise<{ readonly done: number; readonly total: number | null; state: string }> {
  const { body } = await node.get(`/v1/evidence-packs/${id}`);
  const { progress = null, state } = body;
  const { done, total } = isJsonObject(progress) ? progress : {};
  return { done: Number(done), total: typeof total === 'number' ? total : null, state: String(state) };
}

test('a pack whose node is killed in the middle is gone on with, and is the same byte for byte', async () => {
  const from = new Date(Date.now() - 60_000).toISOString();
  for (let batch = 0; batch < BATCHES; batch++) {
    const records = Array.from({ length: BATCH_RECORDS }, (_, i) => ({
      sourceId: SOURCE,
      data: { case: [batch, i] },
    }));
    const { status, text } = await node.post('/v1/tiered-attest-batch', records);
    assert.is(status, 200, text.slice(0, 300));
  }
  const to = new Date().toISOString();
  const question = { sources: [SOURCE], from, to, asOf: to };
  const id = String((await node.post('/v1/evidence-packs', question)).body.packId);
  const whole = await settledPack(node, id);
  assert.is(whole.state, 'ready', JSON.stringify(whole));
  const bytes = await packFile(node, id);

  await node.send('DELETE', `/v1/evidence-packs/${id}`, undefined);
  assert.is((await node.post('/v1/evidence-packs', question)).body.packId, id);
  let reached = 0;
  await until('some of it to be done', async () => {
    const { done, state } = await progressOf(id);
    if (state === 'ready') throw new Error('it was made before the node could be killed');
    reached = done;
    return done > 0;
  });
  await victim.kill();
  victim = await started();
  let least = Number.POSITIVE_INFINITY;
  await until('it to be made', async () => {
    const { done, total, state } = await progressOf(id);
    if (total !== null) least = Math.min(least, done);
    return state === 'ready';
  });
  assert.ok(
    reached > 0 && least >= reached,
    `it was at ${reached} when the node was killed, and began again at ${least}`,
  );
  const again = await packFile(node, id);
  assert.ok(Buffer.from(bytes).equals(again));
  const known = { pin: network.node(PEER).context.keys.rosters.genesis };
  const verdict = await judgePack(sourceOf(again), { suite: nativeSuite, newHash: nobleHash, known });
  assert.equal([verdict.word, verdict.records], ['verified', BATCHES * BATCH_RECORDS]);
});

test.run();
