import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyStore } from '../../node/fsck/backup/copy-store.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { hashText } from '../../protocol/hash.ts';
import { nodeId } from '../../protocol/ids.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { parseBundle } from '../../protocol/verdict/parse.ts';
import type { Word } from '../../protocol/verdict/word.ts';
import { TestNetwork } from '../fixtures/test-network.ts';
import { until } from '../fixtures/until.ts';
import { waitsOf } from '../node/federation/start/starting.ts';
import { ScriptedMirror } from '../node/anchoring/topic/scripted-mirror.ts';
import { chain, headOf } from '../node/anchoring/topic/topic-chain.ts';
import { TopicWriter } from '../node/anchoring/topic/topic-writer.ts';
import { type Claim, commandLine } from './claims.ts';

const FIVE = ['us', 'eu', 'ca', 'sg', 'jp'] as const;
/** Of the account that follows those of the members. */
const STRANGER = FIVE.length;
const SPAM = 60;
/** Reading, agreeing and signing take a few rounds each. In milliseconds. */
const PATIENCE_MS = 60_000;
const INVENTED = hashText(nativeSuite, 'invented');

/** A federation whose mirror tells the truth. */
const honest = await TestNetwork.start({ nodes: FIVE, ledger: 'local' });

test.after(() => honest[Symbol.asyncDispose]());

test('six records with mirrors cut off: no node says verified, their own neither, and all five do once mirrors answer', async () => {
  const network = honest;
  const faults = network.ledger.local?.ledger.faults;
  // Named by the time that mirrors are cut off, so that a next batch is waited for by nothing but them.
  const before = await recorded(network, 'eu', 1);
  await areVerified(network, before);
  faults?.set({ mirrorDown: true });
  const ids = await recorded(network, 'eu', 6);
  const eu = network.node('eu');
  const isTaken = async (id: string) => (await statusAt(network, 'eu', id)) === 'anchored';
  await until('the ledger has taken all of it', () => all(ids, isTaken), PATIENCE_MS);
  for (const name of FIVE) {
    for (const id of ids) {
      const { body } = await network.node(name).get(`/v1/verify/${id}`);
      assert.is(body.verified, false, name);
    }
  }
  const held = await Promise.all(
    ids.map(async (id) => parseBundle((await eu.get(`/v1/bundles/${id}?partial=1`)).body)),
  );
  assertByCommand(network, held, 'no-decision-yet');
  for (const name of FIVE) {
    for (const bundle of held) {
      const { body } = await network.node(name).post('/v1/bundles/verify', bundle, { key: null });
      assert.equal([body.verified, wordOf(body)], [false, 'no-decision-yet'], name);
    }
  }
  faults?.set({ mirrorDown: false });
  await areVerified(network, ids);
});

test('a mirror that lies from one sequence on while another tells the truth is named by all, and what it hid is verified', async () => {
  await using mirrors = new AsyncDisposableStack();
  const started: ScriptedMirror[] = [];
  await using network = await TestNetwork.start({
    nodes: FIVE,
    ledger: 'local',
    mirrors: async ({ config, topicId }) => {
      const [url = ''] = config(0).mirrors;
      const mirror = mirrors.use(await ScriptedMirror.start(url, topicId));
      started.push(mirror);
      // Another host is another party.
      return [mirror.url, url.replace('127.0.0.1', 'localhost')];
    },
  });
  const [liar] = started;
  if (liar === undefined) throw new Error('no mirror');
  await areVerified(network, await recorded(network, 'us', 1));
  const { topicId } = network.ledger;
  liar.story = (messages) => {
    const told = messages.slice(0, messages.findLastIndex(isOf('us', 1)) + 1);
    return [...told, ...chain(falseNames(network), headOf(told), topicId)];
  };
  const ids = [...(await recorded(network, 'us', 3)), ...(await recorded(network, 'eu', 3))];
  await areVerified(network, ids);
  for (const name of FIVE) {
    const node = network.node(name);
    const isNamed = async () => (await node.get('/v1/health')).text.includes('"who":"127.0.0.1"');
    await until(`${name} names the liar`, isNamed, PATIENCE_MS);
    const decided = await node.context.federationLog.decisionOf(nodeId('us'), 2);
    assert.ok(decided !== undefined && !decided.message.includes(INVENTED));
  }
});

test('the spam of a stranger and of a member on the open topic decides nothing, and costs no record its verdict', async () => {
  const network = honest;
  const { config, network: name, topicId } = network.ledger;
  await areVerified(network, await recorded(network, 'eu', 1));
  const { size: decided } = network.node('eu').context.federationLog;
  await using stranger = await TopicWriter.open({ ...config(STRANGER), network: name, topicId });
  await using member = await TopicWriter.open({ ...config(FIVE.indexOf('sg')), network: name, topicId });
  const spam = Array.from({ length: SPAM }, (_, i) => `spam ${i}`);
  const pretended = falseNames(network);
  await Promise.all([
    ...[...spam, ...pretended].map((text) => stranger.write(text)),
    // Of a member one name is one of five: it decides no batch of another node, no roster and no revocation.
    ...[...spam, ...pretended].map((text) => member.write(text)),
  ]);
  const ids = [...(await recorded(network, 'us', 3)), ...(await recorded(network, 'eu', 3))];
  await areVerified(network, ids);
  const logs = FIVE.map((node) => network.node(node).context.federationLog);
  for (const { size, state } of logs) assert.equal([size, state.rosters.length, state.revoked], [decided + 2, 1, {}]);
});

test('a snapshot restored while the ledger is away signs nothing, then goes on where its chain ended, and no verdict turns', async () => {
  await using network = await TestNetwork.start({ nodes: FIVE, ledger: 'local' });
  const faults = network.ledger.local?.ledger.faults;
  const eu = network.node('eu');
  const folder = await mkdtemp(join(tmpdir(), 'meridian-snapshot-'));
  const ids = await recorded(network, 'eu', 1);
  await areVerified(network, ids);
  await copyStore(eu.context.store, join(folder, 'store'), nodeId('eu'), Date.now, new AbortController().signal);
  ids.push(...(await recorded(network, 'eu', 2)));
  await areVerified(network, ids);
  await eu.stop();
  await rm(join(eu.config.home, 'store'), { recursive: true });
  await rename(join(folder, 'store'), join(eu.config.home, 'store'));
  faults?.set({ unavailable: 1, mirrorDown: true });
  const starting = eu.start();
  starting.catch(() => undefined);
  await until('it to wait for the ledger', async () => (await waitsOf(eu)).includes('ledger'), PATIENCE_MS);
  const { status } = await eu.post('/v1/attest', { sourceId: 'restored', data: { input: 1 } });
  assert.is(status, 503);
  assert.is((await network.node('us').get(`/v1/verify/${ids.at(-1)}`)).body.verified, true);
  faults?.set({ unavailable: 0, mirrorDown: false });
  await starting;
  ids.push(...(await recorded(network, 'eu', 1)));
  await areVerified(network, ids);
  for (const name of FIVE) {
    const { chains, equivocations } = network.node(name).context;
    assert.equal([chains.head(nodeId('eu')).batch, equivocations.all()], [3, []], name);
  }
  await rm(folder, { recursive: true });
});

/** Names that look right: of batches that are not there, of a roster and of a revocation that nobody made. */
function falseNames(network: TestNetwork): string[] {
  const { genesis: federation } = network.node('eu').context.keys.rosters;
  const common = { federation, v: 2 } as const;
  const us = nodeId('us');
  const [certified] = network.node('eu').context.keys.directory.of(us);
  if (certified === undefined) throw new Error('us has certified no key');
  const { keyId } = certified.certificate;
  return [
    ...[2, 3].map((batch) =>
      writeLedgerMessage({ ...common, type: 'batch', node: us, batch, envelope: INVENTED, keyId }),
    ),
    writeLedgerMessage({ ...common, type: 'roster', previous: federation, statement: INVENTED }),
    writeLedgerMessage({ ...common, type: 'revocation', node: us, keyId, statement: INVENTED }),
  ];
}

/** Records of one batch of a node. */
async function recorded(network: TestNetwork, name: string, count: number): Promise<string[]> {
  const node = network.node(name);
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await node.attest({ name, i, random: Math.random() }));
  await node.seal();
  return ids;
}

/** At every node, by a bundle of each at the command line, and by that bundle at every node. */
async function areVerified(network: TestNetwork, ids: readonly string[]): Promise<void> {
  for (const name of FIVE) {
    const node = network.node(name);
    const isVerified = async (id: string) => (await node.get(`/v1/verify/${id}`)).body.verified === true;
    await until(`${name} verifies all`, () => all(ids, isVerified), PATIENCE_MS);
  }
  const bundles = await Promise.all(
    ids.map(async (id) => parseBundle((await network.node('ca').get(`/v1/bundles/${id}`)).body)),
  );
  assertByCommand(network, bundles, 'verified');
  for (const name of FIVE) {
    for (const bundle of bundles) {
      const { body } = await network.node(name).post('/v1/bundles/verify', bundle, { key: null });
      assert.is(wordOf(body), 'verified', name);
    }
  }
}

function assertByCommand(network: TestNetwork, bundles: readonly Claim['bundle'][], word: Word): void {
  const known = { pin: network.node('eu').context.keys.rosters.genesis };
  const claims = bundles.map((bundle, i): Claim => ({ what: `${i}`, bundle, known, word }));
  for (const [{ what }, said] of commandLine(claims)) assert.is(said.word, word, what);
}

async function statusAt(network: TestNetwork, name: string, id: string): Promise<unknown> {
  return (await network.node(name).get(`/v1/status/${id}`)).body.status;
}

async function all(ids: readonly string[], holds: (id: string) => Promise<boolean>): Promise<boolean> {
  for (const id of ids) if (!(await holds(id))) return false;
  return true;
}

function wordOf({ verdict }: JsonObject): unknown {
  return isJsonObject(verdict) ? verdict.word : undefined;
}

/** Whether a message names that batch of a node. */
function isOf(node: string, batch: number): (message: { readonly message: Uint8Array }) => boolean {
  return ({ message }) => {
    const text = Buffer.from(message).toString();
    return text.includes(`"node":"${node}"`) && text.includes(`"batch":${batch},`);
  };
}

test.run();
