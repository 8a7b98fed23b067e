import { createHash } from 'node:crypto';

/** One kill of a soak. */
export interface PlannedKill {
  /** Index of the node that dies. */
  readonly node: number;
  /** How long all nodes are under load before, in milliseconds. */
  readonly loadMs: number;
  /** How far its next start gets before it dies once more, in milliseconds; null for a start that is let be. */
  readonly startMs: number | null;
}

/** Longest load between two kills, in milliseconds. */
const MAX_LOAD_MS = 400;
const MIN_LOAD_MS = 20;
/** Every so many starts one is killed, too. */
const STARTS_PER_KILL = 8;
/** About how long a start takes, in milliseconds. */
const MAX_START_MS = 1_500;

/** Kill `number` of a seed: the same whenever it is asked for, so that a soak can go on where another one stopped. */
export function plannedKill(seed: number, number: number, nodes: number): PlannedKill {
  const bytes = createHash('sha256').update(`${seed}/${number}`).digest();
  const share = (at: number): number => bytes.readUInt32BE(at * 4) / 2 ** 32;
  return {
    node: Math.floor(share(0) * nodes),
    loadMs: MIN_LOAD_MS + Math.floor(share(1) * (MAX_LOAD_MS - MIN_LOAD_MS)),
    startMs: share(2) < 1 / STARTS_PER_KILL ? Math.floor(share(3) * MAX_START_MS) : null,
  };
}
