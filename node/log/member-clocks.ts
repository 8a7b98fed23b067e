import type { NodeId } from '../../protocol/ids.ts';

/** How far a member's clock may differ from this one's (protocol §6). In milliseconds. */
const MAX_DIFFERENCE_MS = 2 * 60_000;
/** An answer that took longer says too little of its member's clock. In milliseconds. */
const MAX_ROUND_TRIP_MS = 30_000;
/** A clock that was read longer ago says nothing any more. In milliseconds. */
const MAX_AGE_MS = 10 * 60_000;

/** A member's clock as it was read, on this process's monotonic clock: a step of the own clock does not move it. */
interface Reading {
  /** Epoch milliseconds of the member's clock … */
  readonly clock: number;
  /** … at this time of the monotonic clock. */
  readonly at: number;
}

/** How a member's clock stands beside the own one, in milliseconds; positive where it is ahead. */
export interface ClockDifference {
  readonly node: NodeId;
  readonly difference: number;
  /** Of the reading, in milliseconds. */
  readonly age: number;
}

export interface MemberClocksOptions {
  /** This node's clock, in epoch milliseconds. */
  readonly now: () => number;
  /** Of the roster in force, this node among them. */
  readonly members: () => readonly NodeId[];
  /** A clock that no step of `now` moves, in milliseconds. Default: that of the process. */
  readonly monotonic?: () => number;
}

/** The clocks of the other members, as each of them told it on an authenticated connection. */
export class MemberClocks {
  readonly #now: () => number;
  readonly #members: () => readonly NodeId[];
  readonly #monotonic: () => number;
  readonly #readings = new Map<NodeId, Reading>();

  constructor({ now, members, monotonic = () => performance.now() }: MemberClocksOptions) {
    this.#now = now;
    this.#members = members;
    this.#monotonic = monotonic;
  }

  /** A member told its clock in an answer that took `roundTrip` milliseconds and is just here. */
  note(node: NodeId, clock: number, roundTrip: number): void {
    if (roundTrip > MAX_ROUND_TRIP_MS) return;
    this.#readings.set(node, { clock: clock + roundTrip / 2, at: this.#monotonic() });
  }

  /** Whether more than half of all members have another time than this node. Members that were not asked have none. */
  get isOff(): boolean {
    return this.#areMost(this.differences().filter(isFar).length);
  }

  /** Whether it is not off, whatever the other members would say that were not asked. With no other to ask it is so. */
  get isRight(): boolean {
    const near = this.differences().filter((told) => !isFar(told)).length;
    return !this.#areMost(this.#members().length - 1 - near);
  }

  /** How the members' clocks differ from this one now. */
  differences(): readonly ClockDifference[] {
    const [now, monotonic] = [this.#now(), this.#monotonic()];
    return this.#members().flatMap((node) => {
      const reading = this.#readings.get(node);
      if (reading === undefined || monotonic - reading.at > MAX_AGE_MS) return [];
      const age = monotonic - reading.at;
      return [{ node, difference: reading.clock + age - now, age }];
    });
  }

  #areMost(members: number): boolean {
    return members * 2 > this.#members().length;
  }
}

function isFar({ difference }: ClockDifference): boolean {
  return Math.abs(difference) > MAX_DIFFERENCE_MS;
}
