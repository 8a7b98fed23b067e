import type { Sha384Hash } from '../../../protocol/hash.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';
import type { TopicHead } from './topic-links.ts';
import type { Trail } from './trail.ts';

/** Processed messages whose running hash is kept: what comes late is still compared with them. */
const RECENT_MESSAGES = 1_024;

/**
 * The points that are final: the position, up to which messages are processed, and some past it. A trail that meets one
 * of them is final up to there.
 */
export class FinalPoints {
  #position: TopicHead;
  /** Past the position, ascending. */
  #ahead: TopicPoint[] = [];
  /** By sequence number, ascending, up to the position. */
  readonly #recent = new Map<number, Sha384Hash>();

  constructor(position: TopicHead) {
    this.#position = position;
    this.#recent.set(position.sequence, position.runningHash);
  }

  get position(): TopicHead {
    return this.#position;
  }

  get last(): TopicPoint {
    const { sequence, runningHash } = this.#ahead.at(-1) ?? this.#position;
    return { sequence, runningHash };
  }

  /** Undefined where it is not known, or kept no more. */
  hashAt(sequence: number): Sha384Hash | undefined {
    const ahead = this.#ahead.find((point) => point.sequence === sequence);
    return ahead?.runningHash ?? this.#recent.get(sequence);
  }

  /** A trail is final up to a sequence number past the last one. */
  extend(trail: Trail, upTo: number): void {
    const runningHash = trail.hashAt(upTo);
    if (runningHash === undefined) throw new RangeError(`the running hash at ${upTo} is not kept`);
    const { sequence } = this.last;
    const between = trail.waypointsBefore(upTo).filter((point) => point.sequence > sequence);
    this.#ahead.push(...between, { sequence: upTo, runningHash });
  }

  /** Learns points before the first, where a trail holds too few messages to reach it and shows what lies between. */
  refine(trail: Trail): void {
    const [first] = this.#ahead;
    if (first === undefined || first.sequence <= trail.lastHeld) return;
    if (trail.hashAt(first.sequence) === first.runningHash) {
      this.#ahead.unshift(...trail.waypointsBefore(first.sequence));
    }
  }

  /** The last point up to which a trail holds the messages. */
  within(trail: Trail): TopicPoint | null {
    const isHeld = ({ sequence, runningHash }: TopicPoint): boolean =>
      sequence <= trail.lastHeld && trail.hashAt(sequence) === runningHash;
    return this.#ahead.findLast(isHeld) ?? null;
  }

  /** The lowest point at which a trail says otherwise; null where it does not. */
  contradictionOf(trail: Trail): number | null {
    const isOther = ({ sequence, runningHash }: TopicPoint): boolean => {
      const said = trail.hashAt(sequence);
      return said !== undefined && said !== runningHash;
    };
    return this.#ahead.find(isOther)?.sequence ?? null;
  }

  /** The messages after the position are processed. */
  advance(messages: readonly TopicMessage[]): void {
    for (const { sequence, runningHash, consensusTimestamp } of messages) {
      if (sequence !== this.#position.sequence + 1) throw new RangeError(`message ${sequence} is not the next`);
      this.#position = { sequence, runningHash, consensusTimestamp };
      this.#recent.set(sequence, runningHash);
      this.#recent.delete(sequence - RECENT_MESSAGES);
    }
    this.#ahead = this.#ahead.filter(({ sequence }) => sequence > this.#position.sequence);
  }
}
