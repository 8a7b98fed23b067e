import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MirrorClient } from '../../../node/anchoring/mirror-client.ts';
import { readKeyFile } from '../../../node/keys/key-file.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { Monitor } from '../../../node/monitor/monitor.ts';
import { MonitorMetrics } from '../../../node/monitor/monitor-metrics.ts';
import type { MonitorEvent, MonitorOptions } from '../../../node/monitor/monitor-options.ts';
import { parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import { monitorCommand } from '../../../scripts/monitor/command.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';

const NODES = ['eu', 'us', 'ca'];
const directory = await mkdtemp(join(tmpdir(), 'meridian-monitor-'));
const network = await TestNetwork.start({ nodes: NODES, quorum: 2, ledger: 'local' });
const rosterFile = network.node().config.rosterFile;
const rosters = [parseRosterFile(await readFile(rosterFile, 'utf8')).genesis];
const mirrors = network.ledger.config(0).mirrors;
let runs = 0;

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

for (const id of ['eu', 'us']) {
  await network.node(id).attest({ decision: 'approve' });
  await network.node(id).seal();
}
await until('every batch is confirmed and witnessed', isClosed);

async function isClosed(): Promise<boolean> {
  using watched = await watch();
  await watched.monitor.round();
  return watched.monitor.heads.filter(({ batch, open }) => batch > 0 && open === 0).length === 2;
}

interface Watched extends Disposable {
  readonly monitor: Monitor;
  readonly events: MonitorEvent[];
  readonly proofDirectory: string;
}

async function watch(options: Partial<MonitorOptions> = {}): Promise<Watched> {
  const events: MonitorEvent[] = [];
  const proofDirectory = join(directory, `proofs-${++runs}`);
  const monitor = await Monitor.open({
    rosters,
    mirror: new MirrorClient(mirrors),
    stateFile: null,
    proofDirectory,
    now: Date.now,
    failingRounds: 1,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  return { monitor, events, proofDirectory, [Symbol.dispose]: () => monitor[Symbol.dispose]() };
}

/** A face of `eu` whose answers `change` may alter. */
async function proxy(change: (path: string, text: string) => string | Promise<string>) {
  const { baseUrl } = network.node('eu');
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    void (async () => {
      const answer = await fetch(baseUrl + path);
      const text = await change(path, await answer.text());
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function codes(events: readonly MonitorEvent[]): string[] {
  return [...new Set(events.map(({ kind, code }) => `${kind} ${code}`))];
}

test('where all is well nothing is told, and the command ends with 0', async () => {
  using watched = await watch();
  const result = await watched.monitor.round();
  assert.ok(result.complete);
  assert.equal(codes(watched.events), []);
  const lines: string[] = [];
  const output = {
    out: (line: string) => void lines.push(line),
    err: () => undefined,
    signal: new AbortController().signal,
  };
  const args = ['--roster', rosterFile, '--mirror', mirrors[0] ?? '', '--once', '--json', '--interval', '0.1'];
  assert.is(await monitorCommand(args, output), 0, lines.join('\n').slice(0, 500));
  assert.match(lines.at(-1) ?? '', '"complete":true');
});

test('a second envelope that one node is shown by a proxy is proven, and the file proves it alone', async () => {
  const chain = await (await fetch(`${network.node('eu').baseUrl}/v1/chains/eu?from=1`)).json();
  const batches: { envelope: SignedStatement }[] = Object(chain).batches;
  const first = batches[0];
  if (first === undefined) throw new Error('no batch');
  const envelope = envelopeStatement.parse(first.envelope.statement);
  const signer = nativeSigner(await readKeyFile(join(network.node('eu').config.home, 'keys'), 'signing'));
  const rival = await signStatement(envelopeStatement, { ...envelope, root: envelope.keyId }, signer);
  await using liar = await proxy((path, text) => {
    if (!path.startsWith('/v1/chains/eu')) return text;
    const page = JSON.parse(text);
    return JSON.stringify({ ...page, batches: [{ ...page.batches[0], envelope: rival }] });
  });
  using watched = await watch({ nodes: [network.node('us').baseUrl, liar.url] });
  const began = performance.now();
  for (let round = 0; round < 6 && watched.monitor.proofs.length === 0; round++) await watched.monitor.round();
  console.log(`time to detect a split view: ${Math.round(performance.now() - began)} ms`);
  const proof = watched.events.find(({ kind }) => kind === 'proof');
  if (proof?.kind !== 'proof') throw new Error(`no proof: ${codes(watched.events).join(', ')}`);
  assert.is(proof.code, 'equivocation');
  const lines: string[] = [];
  const output = {
    out: (line: string) => void lines.push(line),
    err: () => undefined,
    signal: new AbortController().signal,
  };
  assert.is(await monitorCommand(['verify', proof.file, '--roster', rosterFile], output), 0);
  assert.is(await monitorCommand(['verify', proof.file], output), 3);
  await writeFile(proof.file, (await readFile(proof.file, 'utf8')).replaceAll(envelope.keyId, envelope.root));
  assert.is(await monitorCommand(['verify', proof.file, '--roster', rosterFile], output), 1, lines.join('\n'));
});

test('a node that shows what was not signed lies, and proves nothing', async () => {
  await using liar = await proxy((path, text) =>
    path.startsWith('/v1/chains') ? text.replaceAll('sealedAt\\":\\"20', 'sealedAt\\":\\"19') : text,
  );
  using watched = await watch({ nodes: [liar.url] });
  await watched.monitor.round();
  assert.ok(codes(watched.events).includes('alert node-lies'));
  assert.equal(watched.monitor.proofs, []);
});

test('a batch that only the ledger names is missed', async () => {
  await using liar = await proxy((path, text) => {
    if (!path.startsWith('/v1/chains')) return text;
    const page = JSON.parse(text);
    if (path.startsWith('/v1/chains/us')) return JSON.stringify({ ...page, head: 0, batches: [], nextFrom: null });
    return text;
  });
  const patience = { bodyMs: 0 };
  let ahead = 0;
  using watched = await watch({ nodes: [liar.url], patience, now: () => Date.now() + ahead });
  await watched.monitor.round();
  ahead = 1_000;
  await watched.monitor.round();
  assert.ok(codes(watched.events).includes('alert batch-missing'), codes(watched.events).join());
});

test('an anchor that came later than promised is told, with what it took', async () => {
  using watched = await watch({ patience: { anchorMs: 1 } });
  await watched.monitor.round();
  assert.ok(codes(watched.events).includes('notice anchor-late'));
});

test('a monitor goes on from its state, refuses a damaged one, and shows metrics', async () => {
  const stateFile = join(directory, 'state');
  {
    using watched = await watch({ stateFile });
    await watched.monitor.round();
  }
  {
    using watched = await watch({ stateFile });
    assert.ok(watched.monitor.topicSequence >= 2);
    assert.is(watched.monitor.heads.find(({ node }) => node === 'eu')?.batch, 1);
    await watched.monitor.round();
    assert.equal(codes(watched.events), []);
    await using metrics = new MonitorMetrics(watched.monitor);
    const port = await metrics.listen(0);
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    assert.match(text, 'meridian_monitor_chain_head_batch{member="eu"} 1');
    assert.match(text, 'meridian_monitor_proofs 0');
  }
  const content = await readFile(stateFile, 'utf8');
  await writeFile(stateFile, content.replace('"batch":1', '"batch":2'));
  await watch({ stateFile }).then(
    () => assert.unreachable('a damaged state was taken'),
    (error: unknown) => assert.match(String(error), 'is damaged'),
  );
});

test.run();
