import { setTimeout as sleep } from 'node:timers/promises';
import { parseUnits } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { chainClient } from '../../../cluster/chain/chain-client.ts';
import { readChainWallets } from '../../../cluster/chain/chain-wallets.ts';
import { mintUsdc } from '../../../cluster/chain/usdc-genesis.ts';
import { chainDirectory } from '../../../cluster/supervisor/parts.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { decisionBodies } from '../decisions.ts';
import { ClusterClient, member } from '../federation/cluster-client.ts';
import { type FilledCluster, fillCluster } from '../federation/filled-cluster.ts';
import { linkAll } from '../federation/linked.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { percentile } from '../statistics.ts';
import { count, milliseconds, type TextTable } from '../table.ts';
import { until } from '../until.ts';
import { ATTACK_NAMES, ATTACKERS, type AttackName, type AttackTarget, type Tally } from './attack-target.ts';
import { AttackingProcess } from './attacking-process.ts';
import { HonestCallers } from './honest-callers.ts';
import { mostResidentBytes, type ResidentBytes, residentBytes } from './resident-memory.ts';
import { Watch } from './watch.ts';

/** In the rest V8 gives back what the threads of one attack have left, which takes it some ten seconds. */
const FULL = { records: 100, seconds: 20, restSeconds: 20 };
const QUICK = { records: 20, seconds: 4, restSeconds: 1 };
const HONEST_CALLERS = 100;
/**
 * So the hundred ask 100 times a second together: what is measured is how long they wait, not how much a node can do.
 */
const HONEST_PAUSE_MS = 1_000;
const HEALTH_PAUSE_MS = 50;
/** Fifteen times as often as a usual monitor. */
const METRICS_PAUSE_MS = 1_000;
const BATCH_RECORDS = 5_000;
/** The price of one large batch. */
const WALLET_USD = '0.135';
const PROXY = '127.0.0.1';
const PATIENCE_MS = 120_000;
const MEBIBYTE = 1 << 20;
const SECOND_MS = 1_000;

const GOALS = { honestMs: 500, healthMs: 100, memoryBytes: 200 * MEBIBYTE };

/** What came of one row of attackers. */
interface Row {
  readonly name: string;
  readonly honest: HonestCallers;
  readonly watch: Watch;
  /** Beyond what was resident before the first attack. */
  readonly grown: ResidentBytes;
  readonly tallies: readonly (readonly [AttackName, Tally])[];
}

/** Each attack alone and all together, on a node of five, with a hundred honest connections beside them. */
export const attacks: Part = {
  name: 'attacks',
  title: 'Attacks, each alone and all together, on one of five node processes, with 100 honest connections beside them',
  async run(options): Promise<Result> {
    const { quick, home, signal, say } = options;
    const { records, restSeconds } = quick ? QUICK : FULL;
    await using filled = await fillCluster(home, records, options, { TRUSTED_PROXIES: PROXY });
    await linkAll(filled, filled.ids[0] ?? '', { ...options, beside: 0 });
    const account = await honestAccount(filled, records, signal);
    const target = await targetOf(filled, home);
    using _frozen = await freeze(filled, signal);
    const { pid } = filled.cluster.file.nodes[0] ?? {};
    if (typeof pid !== 'number') throw new Error('the node has no process');
    const node: Attacked = { filled, account, target, pid };
    // What is done for the first time is not what is measured.
    await measure(node, 'warm-up', [], { own: 0, files: 0 }, options);
    const before = await residentBytes(pid);
    const rows = [await measure(node, 'nobody', [], before, options)];
    for (const names of [...ATTACK_NAMES.map((name) => [name]), ATTACK_NAMES]) {
      const [first, second] = names;
      const name = second === undefined && first !== undefined ? `${first}, by ${ATTACKERS[first]}` : 'all together';
      await sleep(restSeconds * SECOND_MS, undefined, { signal });
      const row = await measure(node, name, names, before, options);
      rows.push(row);
      for (const [attack, tally] of row.tallies) say(`${attack}: ${JSON.stringify(tally)}`);
    }
    return { table: tableOf(rows), notes: notesOf(rows) };
  },
};

/** An account that attackers have no key of, and records of it, which are verified. */
interface HonestAccount {
  readonly apiKey: string;
  readonly records: readonly string[];
}

interface Attacked {
  readonly filled: FilledCluster;
  readonly account: HonestAccount;
  readonly target: AttackTarget;
  readonly pid: number;
}

async function measure(
  { filled: { cluster }, account, target, pid }: Attacked,
  name: string,
  names: readonly AttackName[],
  before: ResidentBytes,
  { quick, signal, say }: BenchOptions,
): Promise<Row> {
  const { seconds } = quick ? QUICK : FULL;
  const { httpPort: port, metricsPort } = cluster.node(0);
  await using attacking = new AsyncDisposableStack();
  const attackers = names.map((each) => attacking.use(new AttackingProcess(each)));
  await Promise.all(attackers.map((attacker) => attacker.prepare(target)));
  const honest = new HonestCallers({ port, ...account, callers: HONEST_CALLERS });
  const watch = new Watch({ port, metricsPort, healthPauseMs: HEALTH_PAUSE_MS, metricsPauseMs: METRICS_PAUSE_MS });
  const over = new AbortController();
  const ending = AbortSignal.any([over.signal, signal]);
  const memory = mostResidentBytes(pid, ending);
  for (const attacker of attackers) await attacker.begin();
  const beside = Promise.all([honest.run({ pauseMs: HONEST_PAUSE_MS, signal: ending }), watch.run(ending)]);
  await sleep(seconds * SECOND_MS, undefined, { signal }).catch(() => undefined);
  over.abort();
  await beside;
  const tallies = await Promise.all(attackers.map(async (attacker) => [attacker.name, await attacker.end()] as const));
  const { own, files } = await memory;
  const grown = { own: own - before.own, files: files - before.files };
  const row = { name, honest, watch, grown, tallies };
  say(rowOf(row).join('  '));
  for (const fault of [...honest.faults, ...watch.faults].slice(0, 5)) say(`not answered: ${fault}`);
  return row;
}

/** What it asks for is within the limits of its tier. */
async function honestAccount({ cluster }: FilledCluster, made: number, signal: AbortSignal): Promise<HonestAccount> {
  const apiKey = cluster.file.demo.apiKeys.enterprise;
  using client = new ClusterClient(apiKey);
  const { baseUrl } = cluster.node(0);
  const records: string[] = [];
  for (const body of decisionBodies(made)) records.push(await client.attest(baseUrl, body));
  await until('the last of its records is confirmed', PATIENCE_MS, signal, async () => {
    return member(await client.get(`${baseUrl}/v1/status/${records.at(-1)}`), 'status') === 'confirmed';
  });
  return { apiKey, records };
}

async function targetOf({ cluster, ids }: FilledCluster, home: string): Promise<AttackTarget> {
  const { file, plan, rosterFile } = cluster;
  const node = cluster.node(0);
  const taken = cluster.node(plan.nodes.length - 1);
  const { chain } = file;
  if (chain === null) throw new Error('the attacks need a chain, and there is no anvil');
  const { minter } = await readChainWallets(chainDirectory(home));
  const wallet = generatePrivateKey();
  const money = parseUnits(WALLET_USD, USDC.decimals);
  await mintUsdc(chainClient(chain.rpcUrl), minter, privateKeyToAddress(wallet), money);
  return {
    port: node.httpPort,
    baseUrl: node.baseUrl,
    keys: { free: file.demo.apiKeys.developer, unmetered: cluster.apiKey },
    records: ids,
    dearest: ids[0] ?? '',
    payTo: chain.payTo,
    wallet,
    batchRecords: BATCH_RECORDS,
    member: { id: taken.id, home: cluster.homeOf(taken), rosterFile },
  };
}

/** Holds the process of the last member until it is disposed: its key is the attackers'. */
async function freeze({ cluster, client }: FilledCluster, signal: AbortSignal): Promise<Disposable> {
  const { pid, id } = cluster.file.nodes.at(-1) ?? {};
  if (typeof pid !== 'number') throw new Error('the last member has no process');
  process.kill(pid, 'SIGSTOP');
  const frozen = { [Symbol.dispose]: () => void process.kill(pid, 'SIGCONT') };
  try {
    await until('the node to have lost the last member', PATIENCE_MS, signal, async () => {
      const members = member(await client.get(`${cluster.node(0).baseUrl}/v1/federation`), 'members');
      if (!Array.isArray(members)) throw new Error('a federation has members');
      return members.some((each: unknown) => member(each, 'node') === id && member(each, 'connected') === false);
    });
    return frozen;
  } catch (error) {
    frozen[Symbol.dispose]();
    throw error;
  }
}

function tableOf(rows: readonly Row[]): TextTable {
  const head = [
    '',
    'honest p50',
    'honest p99',
    'answered',
    'put off',
    'denied',
    'health p99',
    'metrics p99',
    'memory',
    'files',
  ];
  return [head, ...rows.map(rowOf)];
}

function rowOf({ name, honest, watch, grown }: Row): string[] {
  return [
    name,
    timeOf(honest.milliseconds, 0.5),
    timeOf(honest.milliseconds, 0.99),
    count(honest.milliseconds.length),
    count(honest.busy),
    count(honest.faults.length + watch.faults.length),
    timeOf(watch.health, 0.99),
    timeOf(watch.metrics, 0.99),
    `${count(grown.own / MEBIBYTE)} MiB`,
    `${count(grown.files / MEBIBYTE)} MiB`,
  ];
}

function timeOf(times: readonly number[], share: number): string {
  return times.length === 0 ? 'none' : milliseconds(percentile(times, share));
}

function notesOf(rows: readonly Row[]): string[] {
  const { honestMs, healthMs, memoryBytes } = GOALS;
  const missed = (limit: number, of: (row: Row) => number) => {
    const over = rows.filter((row) => of(row) > limit).map(({ name }) => name);
    return over.length === 0 ? 'met' : `missed: ${over.join('; ')}`;
  };
  const slowest = (times: readonly number[]) =>
    times.length === 0 ? Number.POSITIVE_INFINITY : percentile(times, 0.99);
  return [
    `honest p99 under ${honestMs} ms: ${missed(honestMs, ({ honest }) => slowest(honest.milliseconds))}`,
    `health p99 under ${healthMs} ms: ${missed(healthMs, ({ watch }) => slowest(watch.health))}`,
    `memory at most ${memoryBytes / MEBIBYTE} MiB more: ${missed(memoryBytes, ({ grown }) => grown.own)}`,
    `nobody honest denied: ${missed(0, ({ honest, watch }) => honest.faults.length + watch.faults.length)}`,
    '',
    'Honest: from the first try to 200, a request a second on each connection (record, verify, status, bundle, health), by',
    'an account of the enterprise tier; put off are answers 503 with `Retry-After`, denied is all that was never answered',
    '200. Memory: most of its own that was resident (RssAnon), less what was before the first attack; what is not given back',
    'of one row stands in the next. Files: the same of mapped files (RssFile), which the system takes back when it is short.',
    'Attackers are processes of least priority on this machine, as are ledger, chain and the other nodes: on a busy one all',
    'of them wait.',
  ];
}
