import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PUBLIC_MIRRORS } from '../../node/anchoring/ledger/config.ts';
import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject } from '../../protocol/json/value.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../protocol/keys/roster-file.ts';
import { workOnPath } from '../command-line.ts';
import { type MonitorArguments, readArguments, USAGE } from './arguments.ts';
import { MonitorMetrics } from './monitor-metrics.ts';
import type { MonitorEvent, PollResult } from './monitor-options.ts';
import { Monitor } from './monitor.ts';

export interface Output {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly signal: AbortSignal;
}

const EXIT = { well: 0, proof: 1, unreadable: 2, alerts: 3 } as const;
/** Rounds in which `--once` may get no further, before it ends with what it has. */
const IDLE_POLLS = 5;

/** Runs the command; resolves with its exit code. */
export async function monitorCommand(args: readonly string[], output: Output): Promise<number> {
  try {
    const asked = readArguments(args);
    if (asked === null) output.out(USAGE);
    if (asked === null) return EXIT.well;
    return await watch(asked, output);
  } catch (error) {
    output.err(error instanceof UsageError ? usageLine(error, 'monitor') : messageOf(error));
    return EXIT.unreadable;
  }
}

async function watch(asked: MonitorArguments, output: Output): Promise<number> {
  const rosters = parseRosterFile(await readFile(asked.roster, 'utf8'));
  const { network } = RosterChain.open(nativeSuite, rosters).current.ledger;
  // A proof may come after weeks: where none could be written is told at once.
  await workOnPath(asked.proofs, () => mkdir(asked.proofs, { recursive: true }));
  await using monitor = await Monitor.open({
    rosters,
    ...(asked.nodes.length === 0 ? {} : { nodes: asked.nodes }),
    mirrors: asked.mirrors.length > 0 ? asked.mirrors : await mirrorsOf(network, asked.roster),
    stateDirectory: asked.state,
    proofDirectory: asked.proofs,
    now: Date.now,
    patience: asked.patience,
    ...(asked.once ? { failingPolls: 1 } : {}),
    onEvent: (event) =>
      output.out(asked.json ? JSON.stringify({ at: new Date().toISOString(), ...event }) : lineOf(event)),
  });
  const end = () => monitor.stop();
  output.signal.addEventListener('abort', end, { once: true });
  await using metrics = new MonitorMetrics(monitor);
  if (asked.metrics !== null) {
    output.err(`metrics at http://127.0.0.1:${await metrics.listen(asked.metrics)}/metrics`);
  }
  return await (asked.once ? once(monitor, asked, output) : goOn(monitor, asked, output));
}

async function goOn(
  monitor: Monitor,
  { intervalMs, keepGoing }: MonitorArguments,
  { signal }: Output,
): Promise<number> {
  while (!signal.aborted) {
    const { newProofs } = await monitor.poll();
    if (newProofs > 0 && !keepGoing) break;
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
  }
  return monitor.proofs.length > 0 ? EXIT.proof : EXIT.well;
}

async function once(monitor: Monitor, { intervalMs, json }: MonitorArguments, output: Output): Promise<number> {
  let result = await monitor.poll();
  let idle = 0;
  let before = standing(monitor);
  while (!result.complete && idle < IDLE_POLLS && !output.signal.aborted) {
    await sleep(intervalMs, undefined, { signal: output.signal }).catch(() => undefined);
    result = await monitor.poll();
    const now = standing(monitor);
    idle = now === before ? idle + 1 : 0;
    before = now;
  }
  output.out(json ? JSON.stringify({ kind: 'summary', ...summaryOf(monitor, result) }) : wordsOf(monitor, result));
  if (monitor.proofs.length > 0) return EXIT.proof;
  return result.alerts.length > 0 || !result.complete ? EXIT.alerts : EXIT.well;
}

/** How far everything was read, to see whether a round got any further. */
function standing(monitor: Monitor): string {
  return `${monitor.topicSequence} ${monitor.heads.map(({ batch, open }) => `${batch} ${open}`).join(' ')}`;
}

function summaryOf(monitor: Monitor, { complete, alerts }: PollResult) {
  const { topicSequence, tree, heads, proofs } = monitor;
  return { complete, topicSequence, ...tree, heads, alerts: alerts.length, proofs };
}

function wordsOf(monitor: Monitor, result: PollResult): string {
  const { complete, topicSequence, size, root, heads, alerts, proofs } = summaryOf(monitor, result);
  const chains = heads.map(({ node, batch, open }) => `${node} ${batch}${open === 0 ? '' : ` (${open} open)`}`);
  const read = `ledger messages ${topicSequence}; decisions ${size}, root ${root}; batches ${chains.join(', ') || 'none'}`;
  return `${complete ? 'all read' : 'NOT all read'}: ${read}; alerts ${alerts}; proofs ${proofs.length}`;
}

function lineOf(event: MonitorEvent): string {
  const file = event.kind === 'proof' ? ` → ${event.file}` : '';
  const kind = event.kind === 'proof' ? 'PROOF' : event.kind;
  return `${new Date().toISOString()} ${kind} ${event.code} ${event.subject}: ${event.detail}${file}`;
}

/** Throws `UsageError` where neither the network nor a local cluster says where its mirrors are. */
async function mirrorsOf(network: string, rosterFile: string): Promise<string[]> {
  const known = PUBLIC_MIRRORS[network];
  if (known !== undefined) return [known];
  const text = await readFile(join(dirname(rosterFile), 'cluster.json'), 'utf8').catch(() => '{}');
  const cluster = parseJson(text);
  const ledger = isJsonObject(cluster) ? cluster.ledger : undefined;
  const url = ledger !== undefined && isJsonObject(ledger) ? ledger.mirrorUrl : undefined;
  if (typeof url === 'string') return [url];
  throw new UsageError(`${network} is no public network: --mirror URL is missing`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
