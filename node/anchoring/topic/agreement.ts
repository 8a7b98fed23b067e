import type { Sha384Hash } from '../../../protocol/hash.ts';
import type { EntityId, NodeId } from '../../../protocol/ids.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import type { MirrorMessage } from '../ledger/mirror-shapes.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';
import { FinalPoints } from './final-points.ts';
import { Points } from './points.ts';
import { contradictionOf, disputeOf, type Line, part, pointOf, type Support, supportOf, toldAlong } from './support.ts';
import { Tellings } from './tellings.ts';
import { LinkError, type TopicHead } from './topic-links.ts';
import { compareTrails, Trail, WINDOW_MESSAGES } from './trail.ts';

/** A source, or a member, whose last word cannot be true if what the others say is. */
export interface Contradiction {
  /** Name of the source, or of the member. */
  readonly who: string;
  /** What it contradicts: what is final, what two other sources agree on, or what it said itself. */
  readonly kind: 'final' | 'agreed' | 'itself';
  /** The lowest sequence number known at which it does. */
  readonly sequence: number;
}

/** Who is contradicted now, by name. */
class Contradictions {
  readonly #open = new Map<string, Contradiction>();

  get all(): readonly Contradiction[] {
    return [...this.#open.values()];
  }

  of(who: string): Contradiction | null {
    return this.#open.get(who) ?? null;
  }

  note(contradiction: Contradiction): void {
    // What it said against what is final, or against itself, weighs more.
    const isGrave = (this.#open.get(contradiction.who)?.kind ?? 'agreed') !== 'agreed';
    if (contradiction.kind !== 'agreed' || !isGrave) this.#open.set(contradiction.who, contradiction);
  }

  /** Its word holds again, up to a sequence number. One that it has not reached stays open. */
  clear(who: string, sequence: number): void {
    const open = this.#open.get(who);
    if (open !== undefined && sequence >= open.sequence) this.#open.delete(who);
  }

  /** What follows from what the sources say now is found again each time. */
  clearKind(kind: Contradiction['kind']): void {
    for (const [who, open] of this.#open) if (open.kind === kind) this.#open.delete(who);
  }

  /** Forgets all but these: the others are no sources and no members any more. */
  keep(names: Iterable<string>): void {
    const kept = new Set(names);
    for (const who of this.#open.keys()) if (!kept.has(who)) this.#open.delete(who);
  }
}

export interface AgreementOptions {
  readonly topicId: EntityId;
  /** The last message that was processed; it was final. */
  readonly head: TopicHead;
  /** Names of the mirror sources. No two of them are one host. */
  readonly sources: readonly string[];
  /**
   * Null for a reader from outside: it takes what two of its sources agree on, and a majority of members is one of
   * them.
   */
  readonly self: NodeId | null;
  /** All members of the newest known roster. */
  readonly members: readonly NodeId[];
}

/** The name of consensus nodes among the sources. */
export const CONSENSUS = 'consensus';

/** Points kept of what consensus nodes said. */
const CONSENSUS_POINTS = 64;

/**
 * What a node may take from the ledger (protocol §3), from what its mirrors, consensus nodes and the other members say.
 * **Agreed** is how far two of its own sources say the same and no two others say otherwise; that is what it tells.
 * **Final** is how far, besides, a majority of the members told the same running hash at that place or past it.
 *
 * Pure: no clock, no input or output. Bounded, whatever anyone says. What is final is never taken back; all else is
 * held of each source apart, and dropped where the source contradicts what is final, or itself.
 */
export class Agreement {
  readonly #final: FinalPoints;
  readonly #isOutside: boolean;
  readonly #trails: ReadonlyMap<string, Trail>;
  readonly #consensus = new Points(CONSENSUS_POINTS);
  readonly #tellings: Tellings;
  readonly #contradictions = new Contradictions();
  #agreed: TopicPoint;

  constructor({ topicId, head, sources, self, members }: AgreementOptions) {
    this.#final = new FinalPoints(head);
    this.#trails = new Map(sources.map((source) => [source, new Trail(topicId, head)]));
    this.#tellings = new Tellings(self, members);
    this.#isOutside = self === null;
    this.#agreed = this.#final.last;
  }

  /** The last message that was processed. */
  get position(): TopicHead {
    return this.#final.position;
  }

  /** At or past the position: up to here messages are final, whether they are held already or not. */
  final(): TopicPoint {
    return this.#final.last;
  }

  /** What the node tells the other members. At or past what is final; it may fall, but no further. */
  agreedBySources(): TopicPoint {
    return this.#agreed;
  }

  /** Where the sources part and nothing shows which is right; null where they do not. */
  dispute(): number | null {
    return disputeOf(this.#trails, this.#consensus);
  }

  /** Sources and members whose last word was contradicted. */
  contradictions(): readonly Contradiction[] {
    return this.#contradictions.all;
  }

  contradictionOf(source: string): Contradiction | null {
    return this.#contradictions.of(source);
  }

  /** What each other member told last. */
  told(): Tellings['newest'] {
    return this.#tellings.newest;
  }

  /** How far a mirror source was read. */
  headOf(source: string): TopicHead {
    return this.#trail(source).head;
  }

  /** The highest sequence number that a mirror says there is. */
  highestRead(): number {
    return Math.max(...[...this.#trails.values()].map(({ head }) => head.sequence));
  }

  setMembers(members: readonly NodeId[]): void {
    this.#tellings.setMembers(members);
    this.#contradictions.keep([CONSENSUS, ...this.#trails.keys(), ...members]);
    this.#evaluate();
  }

  /** A receipt of one of the node's own messages, or the answer of consensus nodes for the topic. */
  noteConsensus(point: TopicPoint): void {
    this.#compareWithFinal(CONSENSUS, point);
    if (point.sequence <= this.final().sequence) return;
    this.#consensus.add(point);
    this.#evaluate();
  }

  /** What an authenticated member says. One that is not in the newest known roster is not heard. */
  noteTold(member: NodeId, point: TopicPoint): void {
    if (!this.#tellings.note(member, point)) return;
    this.#compareWithFinal(member, point);
    this.#tellings.dropThrough(this.final().sequence);
    this.#evaluate();
  }

  /**
   * After which sequence number a mirror source is to be asked next; null while it is far enough ahead. The last
   * message that it told is asked for again: so it shows at every answer whether it stands by its word. A source whose
   * messages are held no more, though they became final, goes back to the position.
   */
  nextRead(source: string): number | null {
    const trail = this.#trail(source);
    if (this.#isStarved() && !trail.isWhole) trail.restart(this.position);
    const mayRead = (trail.isWhole && trail.hasCapacity) || this.#mayPassWindow(source);
    return mayRead ? Math.max(0, trail.head.sequence - 1) : null;
  }

  /**
   * Takes what a mirror source answered for messages after a sequence number, in its order. Returns how many messages
   * it took; fewer than are new where they were overtaken or do not fit. Throws `LinkError` where they do not link, or
   * are others than it told before; then the source is named, all that it said beyond the position is dropped, and it
   * is to be asked again from there.
   */
  takePage(source: string, after: number, messages: readonly MirrorMessage[]): number {
    const trail = this.#trail(source);
    if (messages.length === 0) {
      if (trail.noteEmpty()) this.#restart(trail);
      return 0;
    }
    const isKept = (sequence: number): boolean =>
      this.#consensus.hashAt(sequence) !== undefined || this.#tellings.isTold(sequence);
    try {
      const taken = trail.take(after, messages, this.#mayPassWindow(source), isKept);
      this.#contradictions.clear(source, Math.min(trail.head.sequence, this.position.sequence));
      if (taken > 0) this.#evaluate();
      return taken;
    } catch (error) {
      if (error instanceof LinkError) {
        // Past the position it contradicts its own word; at it, what is final.
        const kind = trail.head.sequence === this.position.sequence ? 'final' : 'itself';
        this.#contradict(source, kind, error.sequence);
        this.#restart(trail);
      }
      throw error;
    }
  }

  /** Final messages after the position, in order, as many as are held and at most `limit`. */
  nextFinal(limit: number): readonly TopicMessage[] {
    for (const trail of this.#trails.values()) {
      const upTo = this.#final.within(trail);
      if (upTo !== null) return trail.messages.slice(0, Math.min(limit, upTo.sequence - this.position.sequence));
    }
    return [];
  }

  /** These messages, which `nextFinal` gave, are processed: the position moves past them. */
  advance(messages: readonly TopicMessage[]): void {
    this.#final.advance(messages);
    for (const [source, trail] of this.#trails) {
      // What it told otherwise is forgotten below, and must not be forgiven with that.
      const other = messages.find(
        ({ sequence, runningHash }) => (trail.hashAt(sequence) ?? runningHash) !== runningHash,
      );
      if (other !== undefined) this.#contradict(source, 'final', other.sequence);
      trail.advance(this.position);
    }
  }

  #restart(trail: Trail): void {
    trail.restart(this.position);
    this.#evaluate();
  }

  #evaluate(): void {
    if (this.#isOutside) this.#hearMajority();
    let support = this.#compare();
    while (this.#extendFinal(support)) support = this.#compare();
    for (const trail of this.#trails.values()) this.#final.refine(trail);
    const { agreed, fork } = support;
    const isPast = agreed !== null && agreed.upTo > this.final().sequence;
    this.#agreed = isPast ? pointOf(agreed) : this.final();
    this.#contradictions.clearKind('agreed');
    if (agreed !== null && fork === null) this.#compareWith(agreed);
  }

  /** What a majority of members told along a mirror's line stands beside the mirrors as a source of its own. */
  #hearMajority(): void {
    for (const [source, trail] of this.#trails) {
      const line = { source, trail, upTo: trail.head.sequence };
      const upTo = trail.floor(this.#majorityAlong(line));
      if (upTo > this.final().sequence) this.#consensus.add(pointOf({ ...line, upTo }));
    }
  }

  #compare(): Support {
    for (const [source, trail] of this.#trails) {
      const at = this.#final.contradictionOf(trail);
      if (at === null) continue;
      this.#contradict(source, 'final', at);
      trail.restart(this.position);
    }
    return supportOf(this.#trails, this.#consensus);
  }

  /** Whether more is final than was. Where members told two lines that part, neither is. */
  #extendFinal(support: Support): boolean {
    const finals: Line[] = [];
    for (const line of support.lines) {
      const upTo = this.#isOutside ? line.upTo : line.trail.floor(this.#toldByMajority(line, support));
      if (upTo > this.final().sequence) finals.push({ ...line, upTo });
    }
    const isTorn = finals.some((line, index) => finals.slice(index + 1).some((other) => part(line, other)));
    const furthest = finals.sort((one, other) => other.upTo - one.upTo)[0];
    if (furthest === undefined || isTorn) return false;
    this.#final.extend(furthest.trail, furthest.upTo);
    this.#compareOpen(furthest);
    this.#tellings.dropThrough(furthest.upTo);
    this.#consensus.dropThrough(furthest.upTo);
    return true;
  }

  /** How far a majority, this node counted with what it tells itself, told a line. */
  #toldByMajority(line: Line, { fork }: Support): number {
    const own = fork === null ? line.upTo : Math.min(line.upTo, fork);
    return this.#majorityAlong(line, this.#tellings.countsSelf ? [own] : []);
  }

  /** How far a majority goes along a line, with these levels beside those that members told. */
  #majorityAlong(line: Line, own: readonly number[] = []): number {
    const levels = [...own];
    for (const [member, told] of this.#tellings.points) {
      const level = toldAlong(line, told, this.#trails.values());
      levels.push(level);
      this.#contradictions.clear(member, level);
    }
    return levels.sort((a, b) => b - a)[this.#tellings.majority - 1] ?? 0;
  }

  /** What consensus nodes and members told of places that have become final. */
  #compareOpen({ trail, upTo }: Line): void {
    for (const [who, points] of [[CONSENSUS, this.#consensus] as const, ...this.#tellings.points]) {
      for (const { sequence, runningHash } of points) {
        const known = sequence <= upTo ? trail.hashAt(sequence) : undefined;
        if (known !== undefined && known !== runningHash) this.#contradict(who, 'final', sequence);
      }
    }
  }

  /**
   * Names who says otherwise than what two others agree on, and frees who came back to it. What they say is kept:
   * should another source come to say it too, there is a fork.
   */
  #compareWith(agreed: Line): void {
    for (const [source, trail] of this.#trails) {
      const at = contradictionOf(agreed, trail);
      // Where its trail begins is what is final, and no word of its own.
      const hasSpoken = trail.head.sequence > trail.base.sequence;
      if (at !== null) this.#contradict(source, 'agreed', at);
      else if (hasSpoken) {
        this.#contradictions.clear(source, Math.min(agreed.upTo, compareTrails(agreed.trail, trail).equal));
      }
    }
    for (const { sequence, runningHash } of this.#consensus) {
      const known = sequence <= agreed.upTo ? agreed.trail.hashAt(sequence) : undefined;
      if (known === runningHash) this.#contradictions.clear(CONSENSUS, sequence);
      else if (known !== undefined) this.#contradict(CONSENSUS, 'agreed', sequence);
    }
  }

  #compareWithFinal(who: string, { sequence, runningHash }: TopicPoint): void {
    const known: Sha384Hash | undefined = this.#final.hashAt(sequence);
    if (known === runningHash) this.#contradictions.clear(who, sequence);
    else if (known !== undefined) this.#contradict(who, 'final', sequence);
  }

  #contradict(who: string, kind: Contradiction['kind'], sequence: number): void {
    this.#contradictions.note({ who, kind, sequence });
  }

  /** Whether there are final messages that nobody holds. */
  #isStarved(): boolean {
    const isBehind = this.position.sequence < this.final().sequence;
    return isBehind && [...this.#trails.values()].every((trail) => this.#final.within(trail) === null);
  }

  /**
   * Past its window a source is followed where others say that the topic is longer: enough members for a majority,
   * consensus nodes or another mirror. Not while what it holds can be processed. One that is past it goes on as far as
   * its window would be, were it held.
   */
  #mayPassWindow(source: string): boolean {
    const trail = this.#trail(source);
    if (trail.isWhole && this.#final.within(trail) !== null) return false;
    const others = [...this.#trails].filter(([other]) => other !== source).map(([, { head }]) => head.sequence);
    const reach = Math.max(
      trail.isWhole ? 0 : this.final().sequence + WINDOW_MESSAGES,
      this.#tellings.reachedBy(this.#tellings.majority - 1),
      this.#consensus.highest?.sequence ?? 0,
      ...others,
    );
    return trail.head.sequence < reach;
  }

  #trail(source: string): Trail {
    const trail = this.#trails.get(source);
    if (trail === undefined) throw new RangeError(`no source is called ${source}`);
    return trail;
  }
}
