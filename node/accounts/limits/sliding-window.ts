const FIRST_CAPACITY = 8;

/** Times of one subject's requests, oldest first: a ring that grows by doubling, so that memory follows use. */
class RequestTimes {
  /** Its length is a power of two. */
  #ring: Float64Array;
  #oldest = 0;
  #count = 0;

  constructor(capacity = FIRST_CAPACITY) {
    this.#ring = new Float64Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  /** The time at a place from the oldest on, which there must be. */
  at(index: number): number {
    return this.#ring[(this.#oldest + index) & (this.#ring.length - 1)] ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether nothing happened after `time`. */
  isIdleSince(time: number): boolean {
    return this.#count === 0 || this.at(this.#count - 1) <= time;
  }

  /** `time` is not before any other. */
  add(time: number): void {
    if (this.#count === this.#ring.length) this.#grow();
    this.#ring[(this.#oldest + this.#count) & (this.#ring.length - 1)] = time;
    this.#count++;
  }

  /** Drops what happened at `time` or before it. Each time is dropped once, so this costs nothing in the long run. */
  forgetUntil(time: number): void {
    while (this.#count > 0 && this.at(0) <= time) {
      this.#oldest = (this.#oldest + 1) & (this.#ring.length - 1);
      this.#count--;
    }
  }

  dropLatest(): void {
    this.#count = Math.max(0, this.#count - 1);
  }

  copy(): RequestTimes {
    const copy = new RequestTimes();
    for (let i = 0; i < this.#count; i++) copy.add(this.at(i));
    return copy;
  }

  #grow(): void {
    const ring = new Float64Array(this.#ring.length * 2);
    for (let i = 0; i < this.#count; i++) ring[i] = this.at(i);
    this.#ring = ring;
    this.#oldest = 0;
  }
}

/** Where a subject stands with its limit. */
export interface WindowState {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until one more slot is free, rounded up; 0 where all are. */
  readonly resetSeconds: number;
  /** When to come back, rounded up; 0 where the request is allowed. */
  readonly retryAfterSeconds: number;
}

export interface WindowOptions {
  readonly windowMs: number;
  /** Subjects with times of their own. */
  readonly maxSubjects: number;
}

export const MINUTE_MS = 60_000;

/** Windows that subjects share by their hash while the table is full. */
const SHARED_WINDOWS = 1_024;
/**
 * Subjects looked at by each request, to let go of the idle: more than one, so that the table shrinks while it is used.
 */
const SWEPT_PER_REQUEST = 2;
/** The same where a new subject finds the table full. */
const SWEPT_WHEN_FULL = 64;

/**
 * Exact sliding windows: of any span of `windowMs`, open at its start, at most `limit` requests of a subject are let
 * through. What is refused is not counted. Times come from the caller, in milliseconds of a steady clock; one that goes
 * back stands still here.
 *
 * Memory is bounded: an idle subject is forgotten, which changes no answer; with the table full of busy ones, new
 * subjects share windows, and a shared window lets none of them pass its limit, though it may refuse one too early.
 */
export class SlidingWindow {
  readonly #windowMs: number;
  readonly #maxSubjects: number;
  readonly #own = new Map<string, RequestTimes>();
  readonly #shared = new Map<number, RequestTimes>();
  #sweep = this.#own.entries();
  #latest = Number.NEGATIVE_INFINITY;

  constructor({ windowMs, maxSubjects }: WindowOptions) {
    this.#windowMs = windowMs;
    this.#maxSubjects = maxSubjects;
  }

  /** Subjects that have times of their own. */
  get subjects(): number {
    return this.#own.size;
  }

  /** What `take` would answer, without taking a slot. */
  look(subject: string, limit: number, at: number): WindowState {
    const now = this.#advance(at);
    const times = this.#own.get(subject) ?? this.#sharedOf(subject);
    times?.forgetUntil(now - this.#windowMs);
    return this.#stateOf(times, limit, now, (times?.count ?? 0) < limit);
  }

  /** Takes so many slots where they are free, or none. */
  take(subject: string, limit: number, at: number, slots = 1): WindowState {
    const now = this.#advance(at);
    this.#forgetIdle(SWEPT_PER_REQUEST);
    const times = this.#own.get(subject) ?? this.#enter(subject);
    times.forgetUntil(now - this.#windowMs);
    const allowed = times.count + slots <= limit;
    if (allowed) for (let taken = 0; taken < slots; taken++) times.add(now);
    return this.#stateOf(times, limit, now, allowed);
  }

  /** Frees one slot that a subject took, where what it was taken for is not to be counted. */
  giveBack(subject: string): void {
    (this.#own.get(subject) ?? this.#sharedOf(subject))?.dropLatest();
  }

  #advance(at: number): number {
    this.#latest = Math.max(this.#latest, at);
    return this.#latest;
  }

  #stateOf(times: RequestTimes | undefined, limit: number, now: number, allowed: boolean): WindowState {
    const count = times?.count ?? 0;
    // A limit may have been lowered under what was let through before.
    const frees = times === undefined || count === 0 ? now : times.at(Math.max(0, count - limit)) + this.#windowMs;
    // Of a clock with fractions, a time and the window together may be a hair more than they should.
    const seconds = Math.ceil(Math.min(frees - now, this.#windowMs) / 1000);
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - count),
      resetSeconds: seconds,
      retryAfterSeconds: allowed ? 0 : Math.max(1, seconds),
    };
  }

  /** Where the times of a subject without any are kept: its own, beginning with all that may be its, or shared ones. */
  #enter(subject: string): RequestTimes {
    if (this.#own.size >= this.#maxSubjects) this.#forgetIdle(SWEPT_WHEN_FULL);
    const shared = this.#sharedOf(subject);
    if (this.#own.size < this.#maxSubjects) {
      shared?.forgetUntil(this.#latest - this.#windowMs);
      const own = shared?.copy() ?? new RequestTimes();
      this.#own.set(subject, own);
      return own;
    }
    const times = shared ?? new RequestTimes();
    this.#shared.set(sharedIndex(subject), times);
    return times;
  }

  /** Undefined, as nearly always, where no window is shared. */
  #sharedOf(subject: string): RequestTimes | undefined {
    return this.#shared.size === 0 ? undefined : this.#shared.get(sharedIndex(subject));
  }

  /** Goes round the table, a few subjects at a time. */
  #forgetIdle(steps: number): void {
    for (let step = 0; step < steps; step++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#own.entries();
        this.#forgetShared();
        return;
      }
      const [subject, times] = next.value;
      if (times.isIdleSince(this.#latest - this.#windowMs)) this.#own.delete(subject);
    }
  }

  #forgetShared(): void {
    for (const [index, times] of this.#shared) {
      if (times.isIdleSince(this.#latest - this.#windowMs)) this.#shared.delete(index);
    }
  }
}

/** FNV-1a over the subject's UTF-16 units. */
function sharedIndex(subject: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < subject.length; i++) hash = Math.imul(hash ^ subject.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % SHARED_WINDOWS;
}
