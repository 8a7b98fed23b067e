import type { TopicPoint } from '../ledger/topic-point.ts';
import type { Points } from './points.ts';
import { compareTrails, type Comparison, type Trail } from './trail.ts';

/** A trail up to a sequence number. */
export interface Line {
  readonly source: string;
  readonly trail: Trail;
  readonly upTo: number;
}

/** What at least two of a node's own sources say alike: two mirrors, or one and consensus nodes. */
export interface Support {
  /** For each mirror, how far a second source says what it says; only those past the base. */
  readonly lines: readonly Line[];
  /** How far nothing that two sources say is contradicted by what two others say; null for no further than the base. */
  readonly agreed: Line | null;
  /** Where pairs of sources part; null where they do not. */
  readonly fork: number | null;
}

/** Compares the trails of all mirrors, which have one base, with each other and with points from consensus nodes. */
export function supportOf(trails: ReadonlyMap<string, Trail>, consensus: Iterable<TopicPoint>): Support {
  const points = [...consensus];
  const lines: Line[] = [];
  for (const [source, trail] of trails) {
    let upTo = trail.base.sequence;
    for (const { sequence, runningHash } of points) {
      if (sequence > upTo && trail.hashAt(sequence) === runningHash) upTo = sequence;
    }
    for (const other of trails.values()) {
      if (other !== trail) upTo = Math.max(upTo, compareTrails(trail, other).equal);
    }
    if (upTo > trail.base.sequence) lines.push({ source, trail, upTo });
  }
  return { lines, ...agreedOf(lines) };
}

/** Whether two lines part before both end. Where only a few hashes are known, not knowing counts as parting. */
export function part(one: Line, other: Line, { equal, differs } = compareTrails(one.trail, other.trail)): boolean {
  return one.trail !== other.trail && differs !== null && equal < Math.min(one.upTo, other.upTo);
}

function agreedOf(lines: readonly Line[]): Pick<Support, 'agreed' | 'fork'> {
  let agreed: Line | null = null;
  let fork: { readonly line: Line; readonly at: number } | null = null;
  for (const [index, line] of lines.entries()) {
    if (agreed === null || line.upTo > agreed.upTo) agreed = line;
    for (const other of lines.slice(index + 1)) {
      const comparison = compareTrails(line.trail, other.trail);
      if (!part(line, other, comparison)) continue;
      if (fork === null || comparison.equal < fork.at) fork = { line, at: comparison.equal };
    }
  }
  return fork === null ? { agreed, fork: null } : { agreed: { ...fork.line, upTo: fork.at }, fork: fork.at };
}

/**
 * How far along a line a member's word goes: it told a running hash that some trail shows to come after. The hash
 * covers all before it, so it does not matter whose trail that is.
 */
export function toldAlong(line: Line, told: Points, trails: Iterable<Trail>): number {
  let level = line.trail.base.sequence;
  for (const trail of trails) {
    let reached = 0;
    for (const { sequence, runningHash } of told) {
      if (sequence > reached && trail.hashAt(sequence) === runningHash) reached = sequence;
    }
    if (reached <= level) continue;
    const common = trail === line.trail ? reached : compareTrails(trail, line.trail).equal;
    level = Math.max(level, Math.min(reached, common, line.upTo));
  }
  return level;
}

/** Where a source says otherwise than a line; null where it does not, as far as both are known. */
export function contradictionOf(line: Line, trail: Trail): number | null {
  const { differs }: Comparison = compareTrails(trail, line.trail);
  return trail !== line.trail && differs !== null && differs <= line.upTo ? differs : null;
}

/** The lowest sequence number known at which two sources say otherwise; null for none. */
export function disputeOf(trails: ReadonlyMap<string, Trail>, consensus: Iterable<TopicPoint>): number | null {
  const all = [...trails.values()];
  const points = [...consensus];
  const places: number[] = [];
  for (const [index, trail] of all.entries()) {
    for (const other of all.slice(index + 1)) places.push(compareTrails(trail, other).differs ?? Infinity);
    for (const { sequence, runningHash } of points) {
      const said = trail.hashAt(sequence);
      if (said !== undefined && said !== runningHash) places.push(sequence);
    }
  }
  const lowest = Math.min(...places);
  return Number.isFinite(lowest) ? lowest : null;
}

/** The point at which a line ends: one where its running hash is known. */
export function pointOf({ trail, upTo }: Line): TopicPoint {
  const runningHash = trail.hashAt(upTo);
  if (runningHash === undefined) throw new RangeError(`the running hash at ${upTo} is not kept`);
  return { sequence: upTo, runningHash };
}
