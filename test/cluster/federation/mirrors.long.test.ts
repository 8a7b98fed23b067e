import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { mirrorUrl } from '../../../cluster/supervisor/node-variables.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import { hashText } from '../../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import { parseLedgerMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import type { MirrorMessage } from '../../../node/anchoring/ledger/mirror-shapes.ts';
import { fsck } from '../../../node/fsck/fsck.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { logFrames } from '../../../node/log/log-forms.ts';
import type { TopicPoint } from '../../../node/anchoring/ledger/topic-point.ts';
import { Liar } from '../../fixtures/liar.ts';
import { attest, notVerified } from '../../fixtures/load.ts';
import { ClusterProcesses } from '../../fixtures/processes.ts';
import { until } from '../../fixtures/until.ts';
import { ScriptedMirror, type Story, truth } from '../../node/anchoring/topic/scripted-mirror.ts';
import { chain, headOf, pointAt } from '../../node/anchoring/topic/topic-chain.ts';

const FIVE = ['us', 'eu', 'ca', 'sg', 'jp'] as const;
type Place = (typeof FIVE)[number];
/** Who is fooled, and who lies to it besides its mirrors: with it a majority. */
const FOOLED = nodeId('eu');
const LIARS = [nodeId('sg'), nodeId('jp')];
const HONEST: readonly Place[] = ['us', 'ca'];
/** False names of batches of `us`: far more than the ledger has true ones when the fooled node is mended. */
const FALSE_NAMES = 200;
/** A false tail that the ledger's own does not outgrow meanwhile: a mirror that tells less only lags. */
const LATER = 50;
const BATCH_INTERVAL = '0.2';
const RECORDS = 3;
const TELL_MS = 200;
const PATIENCE_MS = 90_000;

const running = new AsyncDisposableStack();
const cluster = running.use(await ClusterProcesses.create());
const rosters = RosterChain.open(nativeSuite, parseRosterFile(await readFile(cluster.rosterFile, 'utf8')));
const { topicId } = rosters.current.ledger;
const ofAll = await mirrorPair();
const ofFooled = await mirrorPair();
/** By node: what it acknowledged. */
const acknowledged = new Map<Place, string[]>(FIVE.map((node) => [node, []]));

test.after(() => running.disposeAsync());

test.before(async () => {
  await Promise.all(FIVE.map((node) => start(node)));
  await cluster.grantKeys(FIVE);
  await record(FIVE);
  await allVerified();
});

test('while a mirror tells another tail from a message on, every node names it and confirms by the other; once it is well none does', async () => {
  const lie = falseTail(LATER);
  ofAll.one.story = lie;
  await record(FIVE);
  await allVerified();
  const names = async (node: Place) => (await text(node, '/v1/health')).includes('"who":"127.0.0.1"');
  for (const node of others()) await until(`${node} to name the mirror`, () => names(node), PATIENCE_MS);
  ofAll.one.story = truth;
  for (const node of others()) await until(`${node} to take it back`, async () => !(await names(node)), PATIENCE_MS);
  await record(FIVE);
  await allVerified();
});

test('while two mirrors lie, each another thing, nothing is confirmed; what waited is by itself once one of them is well', async () => {
  const pids = FIVE.map((node) => cluster.pid(node));
  for (const { one, two } of [ofAll, ofFooled]) [one.story, two.story] = [falseTail(LATER), falseTail(LATER + 1)];
  const before = new Set([...acknowledged.values()].flat());
  await record(FIVE);
  const waiting = [...acknowledged.values()].flat().filter((id) => !before.has(id));
  for (const node of FIVE) {
    const isTaken = async () =>
      (await text(node, `/v1/status/${(acknowledged.get(node) ?? []).at(-1)}`)).includes('"anchored"');
    await until(`the ledger to take what ${node} recorded`, isTaken, PATIENCE_MS);
    assert.equal((await unverified(node, waiting)).toSorted(), waiting.toSorted(), node);
  }
  for (const { two } of [ofAll, ofFooled]) two.story = truth;
  await allVerified();
  for (const { one } of [ofAll, ofFooled]) one.story = truth;
  assert.equal(
    FIVE.map((node) => cluster.pid(node)),
    pids,
  );
});

test('a node that two mirrors and two members fool halts, says so, and one command mends it', async () => {
  const { key } = await checkpointOf('us', FOOLED);
  const lie = falseTail(FALSE_NAMES);
  await fool(lie);
  const began = performance.now();
  const isHalted = async () => (await healthOf(FOOLED)).signer === 'contradicted';
  await until('the fooled node to halt', isHalted, PATIENCE_MS);
  console.log(
    `fooled: halted ${((performance.now() - began) / 1_000).toFixed(1)} s after the two liars told the truth again`,
  );
  const { status, contradictedBy } = await healthOf(FOOLED);
  assert.is(status, 503);
  assert.ok(contradictedBy.length >= 3 && contradictedBy.every((node) => node !== FOOLED), contradictedBy.join());
  assert.match(await metricsOf(FOOLED), /meridian_contradicted(\{[^}]*\})? 1/);
  assert.is((await attest(targetOf(FOOLED), RECORD))?.status, 503);
  // The four others are more than a quorum.
  await record(others());

  ofFooled.one.story = truth;
  ofFooled.two.story = truth;
  await cluster.end(FOOLED);
  const command = performance.now();
  await start(FOOLED, ['--reread-ledger']);
  console.log(`fooled: takes records ${((performance.now() - command) / 1_000).toFixed(1)} s after the command`);
  assert.is((await healthOf(FOOLED)).status, 200);
  await record(FIVE);
  await allVerified();
  const mended = async () => (await checkpointOf('us', FOOLED)).key !== key;
  await until('the others to count what it signs by another key', mended, PATIENCE_MS);
  assert.is(new Set(await Promise.all(FIVE.map((node) => rootOf(node)))).size, 1);
  const records = [...acknowledged.values()].flat().length;
  console.log(`fooled: ${records} records acknowledged, lost = 0, all verified at all five nodes`);
});

test('all stores are whole', async () => {
  for (const node of FIVE) await cluster.end(node);
  const found: string[] = [];
  for (const node of FIVE) {
    await fsck(cluster.nodeHome(node), {
      onFinding({ severity, table, key, detail }) {
        if (severity === 'problem') found.push(`${node}: ${table} ${key}: ${detail}`);
      },
    });
  }
  assert.equal(found, []);
});

test.run();

const RECORD = { sourceId: 'loans', data: { input: 1, output: 'yes' } };

interface Mirrors {
  readonly one: ScriptedMirror;
  readonly two: ScriptedMirror;
}

async function mirrorPair(): Promise<Mirrors> {
  const url = mirrorUrl(cluster.plan);
  return {
    one: running.use(await ScriptedMirror.start(url, topicId)),
    two: running.use(await ScriptedMirror.start(url, topicId)),
  };
}

/** Each node reads two mirrors, which count as two where they have another host each. No word that it is alone. */
function start(node: Place | NodeId, flags: readonly string[] = []): Promise<void> {
  const { one, two } = node === FOOLED ? ofFooled : ofAll;
  const mirrors = [one.url, two.url.replace('127.0.0.1', 'localhost')].join();
  return cluster.startNode(node, { BATCH_INTERVAL, LEDGER_MIRRORS: mirrors, START_ALONE: '0' }, { flags });
}

/** The truth as it is when somebody asks first, and after it names of batches of `us` that never were, paid by it. */
function falseTail(count: number): Story {
  let told: readonly MirrorMessage[] | undefined;
  return (messages) => {
    const names = messages.map(({ message }) => parsed(message)).filter((named) => named?.node === 'us');
    const last = names.at(-1);
    if (last === undefined) throw new Error('us has named nothing');
    const invented = Array.from({ length: count }, (_, i) => {
      return writeLedgerMessage({
        ...last,
        batch: last.batch + 1 + i,
        envelope: hashText(nativeSuite, `${count} ${i}`),
      });
    });
    told ??= [...messages, ...chain(invented, headOf(messages), topicId)];
    return told;
  };
}

function parsed(message: Uint8Array) {
  try {
    const named = parseLedgerMessage(Buffer.from(message).toString());
    return named.type === 'batch' ? named : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The mirrors of one node tell it a false tail, and so do two members, until it believes that; meanwhile it records.
 * Then these members run again, as honest as before.
 */
async function fool(lie: Story): Promise<void> {
  const before = (await healthOf(FOOLED)).size;
  for (const node of LIARS) await cluster.end(node);
  let told: readonly MirrorMessage[] = [];
  ofFooled.one.story = (messages) => (told = lie(messages));
  ofFooled.two.story = lie;
  await until('the mirror to be asked', () => told.length > 0, PATIENCE_MS);
  await using lying = new AsyncDisposableStack();
  const liars: Liar[] = [];
  for (const id of LIARS) {
    const liar = lying.use(
      await Liar.start({ id, home: cluster.nodeHome(id), listen: cluster.node(id).peerAddress }, rosters),
    );
    const point = pointAt(told, told.length);
    liar.transport.serve('log', async function* () {
      yield* logFrames({ clock: Date.now(), told: point, checkpoints: [] });
    });
    liars.push(liar);
  }
  const telling = new AbortController();
  const over = tell(liars, pointAt(told, told.length), telling.signal);
  const isFooled = async () => (await healthOf(FOOLED)).size >= before + FALSE_NAMES;
  await until('the node to be fooled', isFooled, PATIENCE_MS).finally(() => telling.abort());
  await over;
  // It takes records: it knows nothing yet.
  await record([FOOLED, ...HONEST]);
  await lying.disposeAsync();
  // They wait for each other.
  await Promise.all(LIARS.map((node) => start(node)));
}

async function tell(liars: readonly Liar[], point: TopicPoint, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const [i, liar] of liars.entries()) {
      await liar.publish({ type: 'told', node: LIARS[i] ?? FOOLED, at: Date.now(), point });
    }
    await sleep(TELL_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function record(nodes: readonly (Place | NodeId)[]): Promise<void> {
  for (const node of nodes) {
    for (let i = 0; i < RECORDS; i++) {
      const outcome = await attest(targetOf(node), RECORD);
      const id = /"attestationId":"([^"]+)"/.exec(outcome?.text ?? '')?.[1];
      if (id === undefined) throw new Error(`${node} answered ${outcome?.status}: ${outcome?.text}`);
      acknowledged.get(placeOf(node))?.push(id);
    }
  }
}

/** Everything that was ever acknowledged, at every node. */
async function allVerified(): Promise<void> {
  const ids = [...acknowledged.values()].flat();
  for (const node of FIVE) {
    let left: readonly string[] = ids;
    await until(
      `${node} to verify all of ${ids.length}`,
      async () => {
        left = await unverified(node, left);
        return left.length === 0;
      },
      PATIENCE_MS,
    );
  }
}

function unverified(node: Place, ids: readonly string[]): Promise<string[]> {
  return notVerified(cluster.node(node).baseUrl, ids, cluster.demoKeys.bench);
}

function others(): Place[] {
  return FIVE.filter((node) => node !== FOOLED);
}

function placeOf(node: string): Place {
  const place = FIVE.find((candidate) => candidate === node);
  if (place === undefined) throw new Error(`no place ${node}`);
  return place;
}

function targetOf(node: string) {
  return { nodeUrl: `${cluster.node(node).baseUrl}/verify`, apiKey: cluster.demoKeys.bench };
}

async function text(node: string, path: string): Promise<string> {
  const response = await fetch(cluster.node(node).baseUrl + path, { headers: { 'x-api-key': cluster.demoKeys.bench } });
  return response.text();
}

async function healthOf(node: string) {
  const response = await fetch(`${cluster.node(node).baseUrl}/v1/health`);
  const body: {
    readonly checks: { readonly signer: string };
    readonly log: { readonly size: number; readonly contradictedBy: readonly string[] };
  } = await response.json();
  return { status: response.status, signer: body.checks.signer, ...body.log };
}

async function metricsOf(node: string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${cluster.node(node).metricsPort}/metrics`)).text();
}

/** The newest checkpoint of a member that a node counts. */
async function checkpointOf(node: string, member: string): Promise<{ readonly key: string | undefined }> {
  return { key: /\\"keyId\\":\\"([^\\]+)/.exec(await text(node, `/v1/log/checkpoints/${member}`))?.[1] };
}

async function rootOf(node: string): Promise<string> {
  const { size, root }: { size: number; root?: string } = JSON.parse(await text(node, '/v1/health')).log;
  return `${size} ${root}`;
}
