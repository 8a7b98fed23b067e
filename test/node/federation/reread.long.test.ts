import { readFile } from 'node:fs/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { beginReread, dropTree } from '../../../node/federation/reread.ts';
import { openNodeStore } from '../../../node/fsck/migration/migrate-store.ts';
import { FederationLog } from '../../../node/log/federation-log.ts';
import { StoreError } from '../../../node/store/store.ts';
import { rereadLedger } from '../../../node/wiring/key-services.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { entityId, nodeId } from '../../../protocol/ids.ts';
import { parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { consensusOf } from '../../fixtures/federation-topic.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { hashOf } from '../../protocol/log/topic.ts';

const EU = nodeId('eu');
/** Reading, agreeing and signing take a few rounds each. In milliseconds. */
const PATIENCE_MS = 60_000;
let attested = 0;
const silent = pino({ level: 'silent' });

test('a node that was fooled about the ledger halts, one command mends it, and it confirms again', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us', 'jp'], ledger: 'local' });
  const [eu, us] = [network.node('eu'), network.node('us')];
  const before = await confirmed(eu);
  await confirmed(us);
  const { keyId } = eu.context.ownKeys;
  await eu.stop();
  await fool(eu);
  await eu.start();
  await until('eu to halt', () => eu.context.federation.halted === 'contradicted', PATIENCE_MS);
  const { status, body } = await eu.get('/v1/health');
  assert.is(status, 503);
  assert.match(JSON.stringify(body), '"signer":"contradicted"');
  assert.match(JSON.stringify(body), '"contradictedBy":["');
  assert.is((await eu.post('/v1/attest', { sourceId: 'test', data: { input: 1 } })).status, 503);
  assert.ok(eu.log.some((line) => line.includes('--reread-ledger') && line.includes('"level":60')));
  assert.match((await eu.context.metrics.expose()).text, /meridian_contradicted(\{[^}]*\})? 1/);

  // It stays halted, whatever is restarted.
  await eu.stop();
  await eu.start();
  assert.is(eu.context.federation.halted, 'contradicted');
  const codeOf = (error: unknown) => (error instanceof StoreError ? error.code : error);
  assert.is(await rereadLedger(eu.config, silent).catch(codeOf), 'locked', 'while the node runs');
  await eu.stop();
  await rereadLedger(eu.config, silent);
  await eu.start();
  assert.is(eu.context.federation.halted, null);
  assert.is.not(eu.context.ownKeys.keyId, keyId);
  assert.is(eu.context.keys.directory.revocation(EU, keyId)?.revocation.reason, 'rotated');
  await until('the one log', () => {
    return (
      eu.context.federationLog.size >= us.context.federationLog.size && eu.context.follower.contradictedBy.length === 0
    );
  });
  assert.is(await eu.context.federationLog.rootAt(2), await us.context.federationLog.rootAt(2));
  await confirmed(eu);
  await confirmed(us);
  await until(
    'the record of before',
    async () => (await eu.get(`/v1/verify/${before}`)).body.verified === true,
    PATIENCE_MS,
  );
  await until('us to count what eu signs by its new key', () => {
    return us.context.checkpointStore.newest(EU)?.checkpoint.keyId === eu.context.ownKeys.keyId;
  });
});

test('a node that was fooled about its own batch does not take its chain for closed, and is mended alike', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us', 'jp'], ledger: 'local' });
  const eu = network.node('eu');
  const before = await confirmed(eu);
  await confirmed(network.node('us'));
  await eu.stop();
  await fool(eu, 0);
  await eu.start();
  await until('eu to halt', () => eu.context.federation.halted === 'contradicted', PATIENCE_MS);
  assert.match((await eu.get('/v1/health')).text, '"signer":"contradicted"');
  assert.is((await eu.post('/v1/attest', { sourceId: 'test', data: { input: 1 } })).status, 503);
  await eu.stop();
  await rereadLedger(eu.config, silent);
  await eu.start();
  assert.is(eu.context.federation.halted, null);
  await confirmed(eu);
  await until(
    'the record of before',
    async () => (await eu.get(`/v1/verify/${before}`)).body.verified === true,
    PATIENCE_MS,
  );
});

test('dropping goes on where a crash left it, keeps the own chain, and happens once', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us', 'jp'], ledger: 'local' });
  const eu = network.node('eu');
  await confirmed(eu);
  await confirmed(network.node('us'));
  await until('eu to derive us', () => eu.context.vouching.vouched().has(nodeId('us')), PATIENCE_MS);
  await eu.stop();
  {
    await using store = await openNodeStore(eu.config.home);
    await beginReread(store, hashOf('key'));
    const write = store.write.bind(store);
    store.write = () => Promise.reject(new Error('the power is gone'));
    await assertRejects(dropTree(store, EU));
    store.write = write;
    await dropTree(store, EU);
    const left = (await Array.fromAsync(store.range({}))).map(([key]) => key);
    const isOf = (table: string) => left.filter((key) => key.startsWith(`${table}/`));
    for (const table of ['log-entry', 'log-tile', 'log-batch', 'log-state', 'checkpoint', 'own-vouched']) {
      assert.equal(isOf(table), [], table);
    }
    assert.equal(isOf('chain-state'), ['chain-state/eu']);
    assert.ok(
      isOf('chain-source').length > 0 && isOf('chain-source').every((key) => key.startsWith('chain-source/eu/')),
    );
    assert.ok(isOf('log-roster').length > 0);
    const genesis = parseRosterFile(await readFile(eu.config.rosterFile, 'utf8')).genesis.statement;
    await FederationLog.open(store, genesis);
    await dropTree(store, EU);
    const state = (await Array.fromAsync(store.range({ gte: 'log-state/', lt: 'log-state0' }))).length;
    assert.is(state, 1, 'what was read since stays');
  }
});

async function assertRejects(work: Promise<unknown>): Promise<void> {
  const outcome = await work.then(
    () => 'resolved',
    () => 'rejected',
  );
  assert.is(outcome, 'rejected');
}

/** Attests, and waits until the federation has confirmed it. Resolves to the record's id. */
async function confirmed(node: TestNode): Promise<string> {
  const id = await node.attest({ input: attested++ });
  await node.seal();
  await until('the confirmation', async () => (await node.get(`/v1/verify/${id}`)).body.verified === true, PATIENCE_MS);
  return id;
}

/**
 * The node's store, as if its sources had all told the same lie: the message of that decision names another envelope.
 */
async function fool(node: TestNode, at = 1): Promise<void> {
  await using store = await openNodeStore(node.config.home);
  const genesis = parseRosterFile(await readFile(node.config.rosterFile, 'utf8')).genesis.statement;
  const truth = await FederationLog.open(store, genesis);
  const decisions = (await truth.entries(0, truth.size)).map(decisionText.parse);
  const { sequence: end, runningHash } = truth.state;
  const messages = Array.from({ length: end }, (_, i): TopicMessage => {
    const decision = decisions.find(({ sequence }) => Number(sequence) === i + 1);
    const lie = (text: string) => text.replace(/"envelope":"sha256:..../, '"envelope":"sha256:0000');
    const message =
      decision === undefined ? 'nothing' : decision.index === at ? lie(decision.message) : decision.message;
    const { consensusTimestamp = consensusOf(0), payer = entityId('0.0.9') } = decision ?? {};
    return { sequence: i + 1, consensusTimestamp, payer, message: utf8(message), runningHash };
  });
  await beginReread(store, hashOf('key'));
  await dropTree(store, EU);
  await store.write([{ type: 'del', key: 'reread/state' }]);
  const lied = await FederationLog.open(store, genesis);
  await lied.take(messages);
  if (lied.size !== truth.size) throw new Error('the lie decides as much as the truth');
}

test.run();
