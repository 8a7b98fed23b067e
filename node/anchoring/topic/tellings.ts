import type { NodeId } from '../../../protocol/ids.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';
import { Points } from './points.ts';

/** Points kept of one member. */
const KEPT_POINTS = 16;

/**
 * What the other members of the newest known roster tell. A member tells points that grow; one that does not go past
 * what it told before takes back all that was past it.
 */
export class Tellings {
  readonly #self: NodeId | null;
  #members: readonly NodeId[] = [];
  readonly #points = new Map<NodeId, Points>();
  readonly #newest = new Map<NodeId, TopicPoint>();

  constructor(self: NodeId | null, members: readonly NodeId[]) {
    this.#self = self;
    this.setMembers(members);
  }

  /** Members that make a majority. */
  get majority(): number {
    return Math.floor(this.#members.length / 2) + 1;
  }

  /** Whether this node's own word counts: it is in the roster. */
  get countsSelf(): boolean {
    return this.#self !== null && this.#members.includes(this.#self);
  }

  /** Of every other member, what it told last; null for nothing yet. */
  get newest(): readonly { readonly member: NodeId; readonly point: TopicPoint | null }[] {
    return this.#others().map((member) => ({ member, point: this.#newest.get(member) ?? null }));
  }

  /** The points of each member that told any. */
  get points(): Iterable<[NodeId, Points]> {
    return this.#points;
  }

  /** Another roster is the newest known. What a member told that is still there stands. */
  setMembers(members: readonly NodeId[]): void {
    this.#members = [...new Set(members)];
    const others = new Set(this.#others());
    for (const member of this.#newest.keys()) {
      if (others.has(member)) continue;
      this.#newest.delete(member);
      this.#points.delete(member);
    }
  }

  /** Whether the member is one whose word counts. */
  note(member: NodeId, point: TopicPoint): boolean {
    if (!this.#others().includes(member)) return false;
    const points = this.#points.get(member) ?? new Points(KEPT_POINTS);
    points.dropFrom(point.sequence);
    points.add(point);
    this.#points.set(member, points);
    this.#newest.set(member, point);
    return true;
  }

  /** Nothing up to this sequence number is open any more. */
  dropThrough(sequence: number): void {
    for (const points of this.#points.values()) points.dropThrough(sequence);
  }

  isTold(sequence: number): boolean {
    for (const points of this.#points.values()) if (points.hashAt(sequence) !== undefined) return true;
    return false;
  }

  /** The highest sequence number that so many others say the topic has; 0 where fewer say anything. */
  reachedBy(others: number): number {
    const told = [...this.#newest.values()].map(({ sequence }) => sequence).sort((a, b) => b - a);
    return others < 1 ? 0 : (told[others - 1] ?? 0);
  }

  #others(): NodeId[] {
    return this.#members.filter((member) => member !== this.#self);
  }
}
