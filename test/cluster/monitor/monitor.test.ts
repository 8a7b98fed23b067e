import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readKeyFile } from '../../../node/keys/key-file.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { Monitor } from '../../../scripts/monitor/monitor.ts';
import { MonitorMetrics } from '../../../scripts/monitor/monitor-metrics.ts';
import type { MonitorEvent, MonitorOptions } from '../../../scripts/monitor/monitor-options.ts';
import { hashText } from '../../../protocol/hash.ts';
import { parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import { checkpointStatement, type SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { monitorCommand } from '../../../scripts/monitor/command.ts';
import { verifyCommand } from '../../../scripts/verify/command.ts';
import { consensusOf, placedMessage } from '../../fixtures/federation-topic.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { askedAfter, codes, standing } from '../../scripts/monitor/watched-world.ts';

const NODES = ['eu', 'us', 'ca'];
const PATIENCE_MS = 60_000;
const POLL_PAUSE_MS = 1_500;
const directory = await mkdtemp(join(tmpdir(), 'meridian-monitor-'));
const network = await TestNetwork.start({ nodes: NODES, quorum: 2, ledger: 'local' });
const rosterFile = network.node().config.rosterFile;
const rosters = parseRosterFile(await readFile(rosterFile, 'utf8'));
const [mirror = ''] = network.ledger.config(0).mirrors;
let runs = 0;

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

for (const id of ['eu', 'us']) {
  await network.node(id).attest({ decision: 'approve', from: id });
  await network.node(id).seal();
}
await until('every member vouches for every batch at every node', () => NODES.every(isSettled), PATIENCE_MS);

function isSettled(id: string): boolean {
  const kept = network.node(id).context.checkpointStore.all();
  return kept.filter(({ checkpoint: { vouched } }) => vouched.eu === 1 && vouched.us === 1).length === NODES.length;
}

interface Watched extends AsyncDisposable {
  readonly monitor: Monitor;
  readonly events: MonitorEvent[];
}

async function watch(options: Partial<MonitorOptions> = {}): Promise<Watched> {
  const events: MonitorEvent[] = [];
  const monitor = await Monitor.open({
    rosters,
    mirrors: [mirror],
    stateDirectory: null,
    proofDirectory: join(directory, `proofs-${++runs}`),
    now: Date.now,
    failingPolls: 1,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  return { monitor, events, [Symbol.asyncDispose]: () => monitor[Symbol.asyncDispose]() };
}

/** Rounds until something is so. */
async function polls(what: string, { monitor }: Watched, holds: (monitor: Monitor) => boolean): Promise<void> {
  await until(
    what,
    async () => {
      await monitor.poll();
      if (holds(monitor)) return true;
      // A node answers so much a minute to one address.
      await sleep(POLL_PAUSE_MS);
      return false;
    },
    PATIENCE_MS,
  );
}

const isClosed = ({ heads }: Monitor): boolean =>
  heads.filter(({ batch, open }) => batch > 0 && open === 0).length === 2;

/** Stands before an address: asks it, and answers what `change` makes of that. */
async function proxy(
  target: string,
  change: (path: string, body: Buffer) => Buffer | string | Promise<Buffer | string>,
) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(`mirror ${path}`);
    void (async () => {
      const answer = await fetch(target + path);
      const body = await change(path, Buffer.from(await answer.arrayBuffer()));
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

test('where all is well the monitor comes to the log of every node and tells nothing; the command ends with 0', async () => {
  await using watched = await watch();
  await polls('every batch is decided and vouched for', watched, isClosed);
  assert.equal(codes(watched.events), []);
  assert.is(watched.monitor.tree.size, 2);
  for (const id of NODES) assert.is(watched.monitor.tree.root, network.node(id).context.federationLog.root);
  const lines: string[] = [];
  const output = {
    out: (line: string) => void lines.push(line),
    err: () => undefined,
    signal: new AbortController().signal,
  };
  const args = ['--roster', rosterFile, '--mirror', mirror, '--once', '--json', '--interval', '0.1'];
  assert.is(await monitorCommand(args, output), 0, lines.join('\n').slice(0, 500));
  assert.match(lines.at(-1) ?? '', '"complete":true');
});

test('another root that a member signs is proven, and the file proves it alone', async () => {
  const signer = nativeSigner(await readKeyFile(join(network.node('eu').config.home, 'keys'), 'signing'));
  await using liar = await proxy(network.node('eu').baseUrl, async (path, body) => {
    if (path !== '/v1/log/checkpoints') return body;
    const answer = JSON.parse(body.toString());
    const signed: SignedCheckpoint[] = answer.checkpoints;
    const own = signed.map(({ text }) => checkpointStatement.parse(text)).find(({ node }) => node === 'eu');
    if (own === undefined) return body;
    const lie = { ...own, root: hashText(nativeSuite, 'another tree') };
    const { statement: text, signature } = await signStatement(checkpointStatement, lie, signer);
    return JSON.stringify({ ...answer, checkpoints: [{ text, signature }] });
  });
  await using watched = await watch({ nodes: [liar.url, network.node('us').baseUrl, network.node('ca').baseUrl] });
  await polls('a false checkpoint is proven', watched, ({ proofs }) => proofs.length > 0);
  assert.ok(standing(watched.monitor).includes('checkpoint-false eu'));
  const proof = watched.events.find(({ kind }) => kind === 'proof');
  if (proof?.kind !== 'proof') throw new Error(`no proof: ${codes(watched.events).join(', ')}`);
  const surroundings = {
    out: () => undefined,
    note: () => undefined,
    home: directory,
    now: Date.now,
    suite: nativeSuite,
    progress: null,
    program: 'verify',
  };
  assert.is(
    await verifyCommand([proof.file, '--roster', hashText(nativeSuite, rosters.genesis.statement)], surroundings),
    0,
  );
  assert.is(await verifyCommand([proof.file], surroundings), 3);
});

test('a node that shows what was not signed lies, and proves nothing', async () => {
  await using liar = await proxy(network.node('eu').baseUrl, (path, body) =>
    path.startsWith('/v1/chains') ? body.toString().replaceAll('sealedAt\\":\\"20', 'sealedAt\\":\\"19') : body,
  );
  await using watched = await watch({ nodes: [liar.url, network.node('us').baseUrl, network.node('ca').baseUrl] });
  await polls('the lie is told', watched, ({ alerts }) => alerts.some(({ code }) => code === 'node-lies'));
  assert.equal(watched.monitor.proofs, []);
  await polls('the others show it', watched, isClosed);
});

test('a mirror that makes up the end of the topic moves nothing, and is told', async () => {
  let ahead = 0;
  await using liar = await proxy(mirror, (_path, body) => {
    const page = JSON.parse(body.toString());
    const last = page.messages.at(-1);
    if (last === undefined) return body;
    const consensusTimestamp = consensusOf(1_000 * (Number(last.consensus_timestamp.split('.')[0]) + 1));
    const { topic_id: topicId, payer_account_id: payer } = last;
    const previous = new Uint8Array(Buffer.from(last.running_hash, 'base64'));
    const at = { sequence: last.sequence_number + 1, consensusTimestamp, previous };
    const { next } = placedMessage({ network: 'local', topicId, payer }, 'made up', at);
    const running_hash = Buffer.from(next).toString('base64');
    const message = Buffer.from('made up').toString('base64');
    const made = {
      ...last,
      sequence_number: at.sequence,
      consensus_timestamp: consensusTimestamp,
      message,
      running_hash,
    };
    return JSON.stringify({ ...page, messages: [...page.messages, made].slice(0, 100) });
  });
  await using watched = await watch({ mirrors: [liar.url, mirror], now: () => Date.now() + ahead });
  await polls('the true topic is read', watched, ({ tree }) => tree.size === 2);
  ahead = 61_000;
  await polls('it is told', watched, ({ alerts }) => alerts.some(({ code }) => code === 'mirror-unconfirmed'));
  assert.is(watched.monitor.tree.root, network.node('us').context.federationLog.root);
});

test('a message that came later than promised is told, with what it took', async () => {
  await using watched = await watch({ patience: { anchorMs: 1 } });
  await polls('it is told', watched, () => codes(watched.events).includes('notice anchor-late'));
});

test('a monitor goes on from its state without reading the topic anew, and shows metrics', async () => {
  const stateDirectory = join(directory, 'state');
  {
    await using watched = await watch({ stateDirectory });
    await polls('every batch is decided and vouched for', watched, isClosed);
  }
  await using counted = await proxy(mirror, (_path, body) => body);
  await using watched = await watch({ stateDirectory, mirrors: [counted.url] });
  const { monitor, events } = watched;
  assert.equal([monitor.topicSequence >= 2, monitor.tree.size, isClosed(monitor)], [true, 2, true]);
  const before = monitor.topicSequence;
  await monitor.poll();
  assert.equal(codes(events), []);
  const asked = askedAfter(counted.asked.map((path) => path.replace(/\?.*sequencenumber/, 'sequencenumber')));
  assert.ok(asked.length > 0 && asked.every((after) => after >= before - 1), asked.join());
  await using metrics = new MonitorMetrics(monitor);
  const port = await metrics.listen(0);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (const line of [
    'meridian_monitor_chain_head_batch{member="eu"} 1',
    'meridian_monitor_log_size 2',
    'meridian_monitor_proofs 0',
    'meridian_monitor_checkpoint_behind{member="ca"} 0',
  ]) {
    assert.match(text, line);
  }
});

test('a member that is gone is missed in checkpoints and quorums', async () => {
  let ahead = 0;
  await using watched = await watch({ now: () => Date.now() + ahead });
  await polls('every batch is decided and vouched for', watched, isClosed);
  await network.node('ca').stop();
  await network.node('us').attest({ decision: 'refuse' });
  await network.node('us').seal();
  await polls('it is decided', watched, ({ tree }) => tree.size === 3);
  ahead = 61_000;
  await polls('it is told', watched, (monitor) => standing(monitor).includes('checkpoint-behind ca'));
  assert.ok(standing(watched.monitor).includes('quorum-missing us/2'), standing(watched.monitor).join());
  await network.node('ca').start();
  await polls('it is mended', watched, (monitor) => {
    const told = standing(monitor);
    return !told.includes('checkpoint-behind ca') && !told.includes('quorum-missing us/2');
  });
});

test.run();
