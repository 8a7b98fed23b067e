import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../bench/part.ts';
import { ScalingFederation } from './federation.ts';
import type { Cost, Measured, Stored } from './measured.ts';
import type { State, Tables } from './questions.ts';

export interface SimulationOptions extends Pick<BenchOptions, 'home' | 'signal' | 'say'> {
  readonly members: number;
  /** Of each batch of the second round; those of the first have one. */
  readonly records: number;
  /** How long nothing is asked of the members, in milliseconds. */
  readonly idleMs: number;
}

const RECORD_TABLES = new Set(['body', 'record', 'group', 'link', 'source-index']);
/** Of each batch, its decision and tiles of the log included. */
const BATCH_TABLES = new Set(['envelope', 'batch-first', 'tile', 'log-entry', 'log-batch', 'log-tile']);
/** Rows whose number grows with members, keys and sources alone. */
const OTHER_TABLES = new Set([
  'certificate',
  'chain-source',
  'chain-state',
  'checkpoint',
  'format',
  'given-rosters',
  'log-roster',
  'log-state',
  'own-vouched',
  'start',
  'start-told',
]);

/** Runs a federation of so many members and measures what it costs each of them. */
export async function simulate({ members, records, idleMs, home, signal, say }: SimulationOptions): Promise<Measured> {
  const began = performance.now();
  await using federation = await ScalingFederation.start(home, members, signal);
  const meshed = performance.now() - began;
  say(`${members} members, each connected with every other after ${Math.round(meshed)} ms`);
  // Warms the way up: certificates are exchanged, code is compiled.
  await round(federation, records);
  const idle = await idleCost(federation, idleMs, signal);
  say(`idle for ${idleMs} ms`);
  const small = await batchCost(federation, 1, idle);
  say(`a batch of 1 record by each, everywhere after ${Math.round(small.everywhere)} ms`);
  const large = await batchCost(federation, records, idle);
  say(`a batch of ${records} records by each, everywhere after ${Math.round(large.everywhere)} ms`);
  const [first] = federation.members;
  if (first === undefined) throw new RangeError('a federation has members');
  const stored = storedBy(await federation.tables(first), 1 + 2 * records);
  const { memory } = await federation.state();
  const catchUp = await catchUpCost(federation, idle);
  say(`a member without a store has everything after ${Math.round(catchUp.milliseconds)} ms`);
  return { members, records, idle, small, large, stored, catchUp, meshed, memory: memory / members };
}

async function round(federation: ScalingFederation, records: number): Promise<number[]> {
  const times: number[] = [];
  for (const node of federation.members) {
    const began = performance.now();
    await federation.seal(node, records);
    times.push(performance.now() - began);
  }
  return times;
}

/** What one member spends in a second in which nobody makes a record. */
async function idleCost(federation: ScalingFederation, idleMs: number, signal: AbortSignal): Promise<Cost> {
  const before = await federation.state();
  const began = performance.now();
  await sleep(idleMs, undefined, { signal });
  const seconds = (performance.now() - began) / 1000;
  return scaled(difference(before, await federation.state()), 1 / (seconds * federation.members.length));
}

/** What one member spends on a round in which each member seals one batch, beyond what it spends idle. */
async function batchCost(federation: ScalingFederation, records: number, idle: Cost) {
  const before = await federation.state();
  const times = await round(federation, records);
  const seconds = times.reduce((sum, time) => sum + time, 0) / 1000;
  const each = scaled(difference(before, await federation.state()), 1 / federation.members.length);
  const everywhere = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  return { ...minus(each, scaled(idle, seconds)), everywhere };
}

/** What the whole federation spends on a member that lost its store, beyond what it spends idle. */
async function catchUpCost(federation: ScalingFederation, idle: Cost) {
  const last = federation.members.at(-1);
  if (last === undefined) throw new RangeError('a federation has members');
  const before = await federation.state();
  const began = performance.now();
  await federation.empty(last);
  const milliseconds = performance.now() - began;
  const all = difference(before, await federation.state());
  return { ...minus(all, scaled(idle, (milliseconds / 1000) * federation.members.length)), milliseconds };
}

function difference(before: State, after: State): Cost {
  return {
    received: after.received - before.received,
    sent: after.sent - before.sent,
    cpu: after.cpu - before.cpu,
  };
}

function scaled({ received, sent, cpu }: Cost, factor: number): Cost {
  return { received: received * factor, sent: sent * factor, cpu: cpu * factor };
}

function minus(a: Cost, b: Cost): Cost {
  return { received: a.received - b.received, sent: a.sent - b.sent, cpu: a.cpu - b.cpu };
}

/** Bytes of keys and values, before LevelDB packs them; `own` is the number of records that the member made. */
function storedBy(tables: Tables, own: number): Stored {
  const bytes = (names: ReadonlySet<string>) =>
    tables.reduce((sum, { table, bytes: size }) => sum + (names.has(table) ? size : 0), 0);
  const rows = (name: string) => tables.find(({ table }) => table === name)?.rows ?? 0;
  const known = new Set([...RECORD_TABLES, ...BATCH_TABLES, ...OTHER_TABLES]);
  const rest = tables.reduce((sum, { table, bytes: size }) => sum + (known.has(table) ? 0 : size), 0);
  return {
    record: bytes(RECORD_TABLES) / rows('record'),
    batch: bytes(BATCH_TABLES) / rows('envelope'),
    own: rest / own,
  };
}
