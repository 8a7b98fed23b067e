import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { attest, Load, notVerified } from '../../fixtures/load.ts';
import { ClusterProcesses } from '../../fixtures/processes.ts';
import { until } from '../../fixtures/until.ts';

const NODES: readonly string[] = ['us', 'eu', 'ca', 'sg', 'jp'];
const OTHERS = NODES.filter((node) => node !== 'eu');
const CALLERS = 1;
/** Records before a suspension, and after it. */
const RECORDS = 40;
const PATIENCE_MS = 120_000;
const HOUR_MS = 3_600_000;
/** An hour goes by where a process runs, and where it was suspended: there its monotonic clock stood still. */
const PASSED = 'SIGUSR2';
const SUSPENDED = 'SIGWINCH';
const CLOCK = `
  const [wall, monotonic] = [Date.now, performance.now.bind(performance)];
  let [ahead, gone] = [0, 0];
  Date.now = () => wall() + ahead;
  performance.now = () => monotonic() + gone;
  process.on('${PASSED}', () => { ahead += ${HOUR_MS}; gone += ${HOUR_MS}; });
  process.on('${SUSPENDED}', () => { ahead += ${HOUR_MS}; });
`;

const cluster = await ClusterProcesses.create({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(CLOCK)}`,
});
const load = new Load(targetOf('eu'), CALLERS);
test.after(() => cluster[Symbol.asyncDispose]());

test.before(async () => {
  await Promise.all(NODES.map((id) => cluster.startNode(id, { BATCH_INTERVAL: '0.2' })));
  await cluster.grantKeys(NODES);
});

test('a node that is suspended for an hour in the middle of its records goes on, and all that it acknowledged is verified', async () => {
  await suspendedFor(async () => {
    anHourPasses();
    signal(SUSPENDED, 'eu');
    // A majority goes on meanwhile.
    await areVerified('us', [await recordAt('us')]);
  });
  await areVerified('eu', load.acknowledged);
  await areVerified('jp', load.acknowledged.slice(-RECORDS));
});

test('one whose clock stood still meanwhile says so, records nothing until it is set, and loses nothing', async () => {
  await suspendedFor(
    async () => anHourPasses(),
    async () => {
      await until('it to say why', async () => (await signerOf('eu')) === 'clock-off', PATIENCE_MS);
      assert.is((await attest(targetOf('eu'), RECORD))?.status, 503);
      signal(SUSPENDED, 'eu');
    },
  );
  await areVerified('eu', load.acknowledged);
  await areVerified('jp', load.acknowledged.slice(-RECORDS));
});

const RECORD = { sourceId: 'suspended', data: { input: 1, output: 'x' } };

/** Callers record at `eu` all the time; it stands still while `during` goes on, and `after` follows at once. */
async function suspendedFor(during: () => Promise<void>, after: () => Promise<void> = async () => {}): Promise<void> {
  const stop = new AbortController();
  const running = load.run(stop.signal);
  await more('records before');
  process.kill(cluster.pid('eu'), 'SIGSTOP');
  try {
    await during().finally(() => process.kill(cluster.pid('eu'), 'SIGCONT'));
    await after();
    await more('records after');
  } finally {
    stop.abort();
    await running;
  }
}

function more(what: string): Promise<void> {
  const before = load.acknowledged.length;
  return until(what, () => load.acknowledged.length >= before + RECORDS, PATIENCE_MS);
}

function anHourPasses(): void {
  signal(PASSED, ...OTHERS, 'ledger');
}

function signal(name: NodeJS.Signals, ...parts: readonly string[]): void {
  for (const part of parts) process.kill(cluster.pid(part), name);
}

async function areVerified(node: string, ids: readonly string[]): Promise<void> {
  const { baseUrl } = cluster.node(node);
  let left = ids;
  await until(
    `${node} to verify all of ${ids.length}`,
    async () => {
      left = await notVerified(baseUrl, left, cluster.demoKeys.bench);
      return left.length === 0;
    },
    PATIENCE_MS,
  );
}

async function recordAt(node: string): Promise<string> {
  const outcome = await attest(targetOf(node), RECORD);
  const id = /"attestationId":"([^"]+)"/.exec(outcome?.text ?? '')?.[1];
  if (id === undefined) throw new Error(`${node} answered ${outcome?.status}: ${outcome?.text}`);
  return id;
}

async function signerOf(node: string): Promise<unknown> {
  const body: { checks?: { signer?: unknown } } = await (await fetch(`${cluster.node(node).baseUrl}/v1/health`)).json();
  return body.checks?.signer;
}

function targetOf(node: string) {
  return { nodeUrl: `${cluster.node(node).baseUrl}/verify`, apiKey: cluster.demoKeys.bench };
}

test.run();
