import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ResidentBytes, residentBytes } from '../attacks/resident-memory.ts';
import { healthStatus } from '../health-status.ts';
import type { LocalCluster } from '../local-cluster.ts';
import { processorTime } from '../processor-time.ts';
import { until } from '../until.ts';

/** Between two questions to a node. The system tells the start of a process as exactly. In milliseconds. */
const LOOK_MS = 10;
/** A clock tick of `/proc` (Linux), in milliseconds. */
const TICK_MS = 10;
/** Place of the start time among the fields after the name of a process in `/proc/PID/stat`. */
const START_FIELD = 19;
const PATIENCE_MS = 60_000;

/** One start of a node process, by its first answer over HTTP. */
export interface Restart {
  readonly pid: number;
  /** From the start of the process to that answer, in milliseconds. */
  readonly listensMs: number;
  /** What it took of the processor until then, in all its threads. In milliseconds. */
  readonly processorMs: number;
  readonly memory: ResidentBytes;
}

/** Stops the first node of a cluster in order, and watches it being started again until it accepts records. */
export async function restart(cluster: LocalCluster, signal: AbortSignal): Promise<Restart> {
  const { baseUrl } = cluster.node(0);
  const old = pidOf(cluster);
  if (old === null) throw new Error('there is no node to start again');
  process.kill(old, 'SIGTERM');
  await until('the node to be started again', PATIENCE_MS, signal, () => ![null, old].includes(pidOf(cluster)));
  const pid = pidOf(cluster) ?? old;
  while ((await healthStatus(baseUrl)) === null) await sleep(LOOK_MS, undefined, { signal });
  const listensMs = await ageMs(pid);
  const { all } = await processorTime(pid);
  const restarted = { pid, listensMs, processorMs: all / 1_000, memory: await residentBytes(pid) };
  await until('the node to accept records', PATIENCE_MS, signal, async () => (await healthStatus(baseUrl)) === 200);
  return restarted;
}

function pidOf(cluster: LocalCluster): number | null {
  return cluster.file.nodes[0]?.pid ?? null;
}

/** How long ago a process was started. */
async function ageMs(pid: number): Promise<number> {
  const [stat, uptime] = await Promise.all([`/proc/${pid}/stat`, '/proc/uptime'].map((file) => readFile(file, 'utf8')));
  const ticks = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[START_FIELD]);
  return Number(uptime?.split(' ', 1)[0]) * 1_000 - ticks * TICK_MS;
}
