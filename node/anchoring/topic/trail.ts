import { type Sha384Hash, writeSha384 } from '../../../protocol/hash.ts';
import type { EntityId } from '../../../protocol/ids.ts';
import { RUNNING_HASH_BYTES } from '../../../protocol/ledger/running-hash.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import type { MirrorMessage } from '../ledger/mirror-shapes.ts';
import type { TopicPoint } from '../ledger/topic-point.ts';
import { LinkError, linkMessages, type TopicHead } from './topic-links.ts';

/** Messages that are held of one source beyond what was processed, and their bytes. */
export const WINDOW_MESSAGES = 1_024;
export const WINDOW_BYTES = 1 << 20;
/** A ledger transaction has no more bytes, so no message has: a longer one is a lie. */
export const MAX_MESSAGE_BYTES = 6_144;
/** Past the window running hashes alone are kept: all of the newest so many, */
const DENSE_HASHES = 1_024;
/** and before these one of so many. That many messages of the greatest length fit into the window. */
export const WAYPOINT_SPACING = 128;
/** Over so many hashes, the spacing doubles. */
const MAX_HASHES = 8_192;
/** A mirror that is several machines may lag behind itself for a moment, but not in so many answers in a row. */
const MAX_EMPTY = 3;

/**
 * What one source says of the topic past a point: a chain of messages in which every running hash was recomputed. The
 * first ones are held whole, up to the window. A topic that is longer is followed on by its running hashes: where they
 * meet a point that is known, everything before it is known too, and is read once more to be held.
 *
 * Bounded whatever the source says. `base` is a point that is final, so it never has to be checked again.
 */
export class Trail {
  readonly #topicId: EntityId;
  #base: TopicHead;
  #head: TopicHead;
  /** By sequence number, ascending, past `#base`. */
  readonly #hashes = new Map<number, Sha384Hash>();
  /** Without a gap from `#base` on. */
  #messages: TopicMessage[] = [];
  #bytes = 0;
  #spacing = WAYPOINT_SPACING;
  /** Answers in a row without the last message that was told before. */
  #empty = 0;

  constructor(topicId: EntityId, base: TopicHead) {
    this.#topicId = topicId;
    this.#base = base;
    this.#head = base;
  }

  get base(): TopicHead {
    return this.#base;
  }

  get head(): TopicHead {
    return this.#head;
  }

  /** Messages held, in order from the base on. */
  get messages(): readonly TopicMessage[] {
    return this.#messages;
  }

  /** Sequence number of the last message held. */
  get lastHeld(): number {
    return this.#base.sequence + this.#messages.length;
  }

  /** Whether every message up to the head is held. */
  get isWhole(): boolean {
    return this.lastHeld === this.#head.sequence;
  }

  get hasCapacity(): boolean {
    return this.#messages.length < WINDOW_MESSAGES && this.#bytes + MAX_MESSAGE_BYTES <= WINDOW_BYTES;
  }

  get hashes(): ReadonlyMap<number, Sha384Hash> {
    return this.#hashes;
  }

  /** Undefined where the source has not said it, or it is kept no more. */
  hashAt(sequence: number): Sha384Hash | undefined {
    return sequence === this.#base.sequence ? this.#base.runningHash : this.#hashes.get(sequence);
  }

  /** The highest sequence number up to this one whose running hash is known. */
  floor(sequence: number): number {
    if (this.hashAt(sequence) !== undefined) return sequence;
    let found = this.#base.sequence;
    for (const known of this.#hashes.keys()) {
      if (known > sequence) break;
      found = known;
    }
    return found;
  }

  /** Points before a sequence number that are a window's part from each other. */
  waypointsBefore(sequence: number): TopicPoint[] {
    const points: TopicPoint[] = [];
    for (const [known, runningHash] of this.#hashes) {
      if (known >= sequence) break;
      if (known % WAYPOINT_SPACING === 0) points.push({ sequence: known, runningHash });
    }
    return points;
  }

  /**
   * Takes an answer for the messages after a sequence number. What it says again must be what it said before, and the
   * messages after the head must link; else `LinkError` is thrown, and none is taken. Returns how many of them it took:
   * all or, unless `pastWindow`, those that fit into the window. `isKept` names sequence
   * numbers whose hash is kept however far the head moves on.
   */
  take(
    after: number,
    messages: readonly MirrorMessage[],
    pastWindow: boolean,
    isKept: (sequence: number) => boolean,
  ): number {
    // Dropped meanwhile: the answer belongs to what is no more.
    if (this.#head.sequence > 0 && this.#head.sequence <= after) return 0;
    this.#empty = 0;
    for (const { sequence, runningHash } of messages) this.#requireSame(sequence, runningHash);
    return this.#append(
      messages.filter(({ sequence }) => sequence > this.#head.sequence || sequence <= after),
      pastWindow,
      isKept,
    );
  }

  /** An answer without the last message that was told before. Returns whether the source takes its word back. */
  noteEmpty(): boolean {
    return this.#head.sequence > this.#base.sequence && ++this.#empty >= MAX_EMPTY;
  }

  /** The base has moved on, to a point that this trail passes or has not reached. */
  advance(base: TopicHead): void {
    if (this.#head.sequence <= base.sequence) {
      this.restart(base);
      return;
    }
    const gone = this.#messages.splice(0, base.sequence - this.#base.sequence);
    for (const { message } of gone) this.#bytes -= message.length;
    for (const sequence of this.#hashes.keys()) {
      if (sequence > base.sequence) break;
      this.#hashes.delete(sequence);
    }
    this.#base = base;
  }

  /** Forgets everything past a final point, from where the source is read again. */
  restart(base: TopicHead): void {
    this.#base = base;
    this.#head = base;
    this.#hashes.clear();
    this.#messages = [];
    this.#bytes = 0;
    this.#spacing = WAYPOINT_SPACING;
    this.#empty = 0;
  }

  #requireSame(sequence: number, digest: Uint8Array): void {
    const told = this.hashAt(sequence);
    if (told !== undefined && (digest.length !== RUNNING_HASH_BYTES || told !== writeSha384(digest))) {
      throw new LinkError('running-hash', sequence, `message ${sequence} is another than before`);
    }
  }

  #append(messages: readonly MirrorMessage[], pastWindow: boolean, isKept: (sequence: number) => boolean): number {
    const tooLong = messages.find(({ message }) => message.length > MAX_MESSAGE_BYTES);
    if (tooLong !== undefined) {
      throw new LinkError('length', tooLong.sequence, `message ${tooLong.sequence} is longer than a transaction`);
    }
    linkMessages(this.#head, this.#topicId, messages);
    let taken = 0;
    for (const message of messages) {
      const isHeld = this.isWhole && this.hasCapacity;
      if (!isHeld && !pastWindow) break;
      this.#take(message, isHeld);
      this.#forgetBehind(isKept);
      taken++;
    }
    return taken;
  }

  #take({ sequence, consensusTimestamp, payer, message, runningHash: digest }: MirrorMessage, isHeld: boolean): void {
    const runningHash = writeSha384(digest);
    this.#hashes.set(sequence, runningHash);
    this.#head = { sequence, runningHash, consensusTimestamp };
    if (!isHeld) return;
    this.#messages.push({ sequence, runningHash, consensusTimestamp, payer, message });
    this.#bytes += message.length;
  }

  #forgetBehind(isKept: (sequence: number) => boolean): void {
    const passed = this.#head.sequence - DENSE_HASHES;
    if (this.#isThin(passed) && passed % this.#spacing !== 0 && !isKept(passed)) this.#hashes.delete(passed);
    if (this.#hashes.size <= MAX_HASHES) return;
    this.#spacing *= 2;
    for (const sequence of this.#hashes.keys()) {
      const isWaypoint = sequence % this.#spacing === 0;
      if (this.#isThin(sequence) && !isWaypoint && !isKept(sequence)) this.#hashes.delete(sequence);
    }
  }

  /** Between the messages that are held and the newest hashes. */
  #isThin(sequence: number): boolean {
    return sequence > this.lastHeld && sequence <= this.#head.sequence - DENSE_HASHES;
  }
}

export interface Comparison {
  /** The highest sequence number at which both say the same; they do so at every one before. */
  readonly equal: number;
  /** The lowest one that both say and say otherwise; null where there is none. */
  readonly differs: number | null;
}

/** Compares two trails from the same base. */
export function compareTrails(one: Trail, other: Trail): Comparison {
  const end = Math.min(one.head.sequence, other.head.sequence);
  const atEnd = one.hashAt(end);
  if (atEnd !== undefined && atEnd === other.hashAt(end)) return { equal: end, differs: null };
  const [few, many] = one.hashes.size <= other.hashes.size ? [one, other] : [other, one];
  let equal = one.base.sequence;
  for (const [sequence, runningHash] of few.hashes) {
    const said = many.hashAt(sequence);
    if (said === undefined) continue;
    if (said !== runningHash) return { equal, differs: sequence };
    equal = sequence;
  }
  return { equal, differs: null };
}
