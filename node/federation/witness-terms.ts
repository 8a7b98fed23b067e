import type { NodeId } from '../../protocol/ids.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { Roster } from '../../protocol/log/roster.ts';
import { readBatch, readHead } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';

/**
 * The batch up to which a witness has nothing to cosign after `from`: batches whose roster does not name it. A member
 * that joins late is no witness of what was made before; one that left, of nothing made since. Returns `from` where the
 * very next batch waits for its cosignature, or is not here.
 *
 * A node's batches name rosters in order of their versions, so the end of a stretch is searched for by halves.
 */
export async function passUnwitnessed(
  store: Store,
  rosters: RosterChain,
  node: NodeId,
  witness: NodeId,
  from: number,
): Promise<number> {
  let upTo = from;
  for (;;) {
    const next = await rosterOf(store, node, upTo + 1);
    if (next === undefined || mayWitness(rosters.version(next), witness)) return upTo;
    const again = rosters.rosters.find((roster) => roster.version > next && mayWitness(roster, witness));
    upTo = await lastBefore(store, node, upTo + 1, again?.version ?? Number.POSITIVE_INFINITY);
  }
}

export function mayWitness(roster: Roster | undefined, witness: NodeId): boolean {
  return roster?.members.some((member) => member.node === witness) === true;
}

/** The last batch, from one that stands under an earlier roster on, before the first that stands under `version`. */
async function lastBefore(store: Store, node: NodeId, batch: number, version: number): Promise<number> {
  const head = (await readHead(store, node))?.envelope.batch ?? batch;
  let [low, high] = [batch, head];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (((await rosterOf(store, node, middle)) ?? version) < version) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function rosterOf(store: Store, node: NodeId, batch: number): Promise<number | undefined> {
  return (await readBatch(store, node, batch))?.envelope.roster;
}
