import type { NodeId } from '../../protocol/ids.ts';
import type { Checkpoint } from '../../protocol/log/checkpoint.ts';
import type { KnownCheckpoint } from '../log/known-checkpoint.ts';

/** What so many members have to say by their checkpoints. */
export interface Need {
  /** Members that may say it. */
  readonly members: readonly NodeId[];
  readonly count: number;
  /** Members beside these that are taken along where there are any. */
  readonly spare: number;
  readonly says: (checkpoint: Checkpoint) => boolean;
}

/** Whether enough members say it. */
export function isMet(checkpoints: readonly KnownCheckpoint[], { members, count, says }: Need): boolean {
  const saying = checkpoints.filter(({ checkpoint }) => says(checkpoint)).map(({ checkpoint }) => checkpoint.node);
  return members.filter((node) => saying.includes(node)).length >= count;
}

/**
 * Few checkpoints that meet all needs, as far as they can be met (TRUST §7): of one size where possible, for each further
 * size costs every decision a path.
 */
export function chooseCheckpoints(
  candidates: readonly KnownCheckpoint[],
  needs: readonly Need[],
): readonly KnownCheckpoint[] {
  const ordered = commonestSizeFirst(candidates, needs);
  const chosen = new Set<KnownCheckpoint>();
  for (const { members, count, spare, says } of needs) {
    const saying = (known: KnownCheckpoint) => says(known.checkpoint) && members.includes(known.checkpoint.node);
    const settled = new Set([...chosen].filter(saying).map(({ checkpoint }) => checkpoint.node));
    for (const known of ordered) {
      if (settled.size >= count + spare) break;
      if (settled.has(known.checkpoint.node) || !saying(known)) continue;
      settled.add(known.checkpoint.node);
      chosen.add(known);
    }
  }
  return [...chosen];
}

/** By how many checkpoints of their size there are that are needed, then the newest. */
function commonestSizeFirst(
  candidates: readonly KnownCheckpoint[],
  needs: readonly Need[],
): readonly KnownCheckpoint[] {
  const needed = candidates.filter(({ checkpoint }) => needs.some(({ says }) => says(checkpoint)));
  const counts = new Map<number, number>();
  for (const { checkpoint } of needed) counts.set(checkpoint.size, (counts.get(checkpoint.size) ?? 0) + 1);
  const countOf = ({ checkpoint }: KnownCheckpoint) => counts.get(checkpoint.size) ?? 0;
  return needed.toSorted((a, b) => countOf(b) - countOf(a) || b.checkpoint.size - a.checkpoint.size);
}
