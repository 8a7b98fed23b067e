import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

interface Flight<Result> {
  readonly result: Promise<Result>;
  hasBegun: boolean;
  /** For all callers since it began. */
  next: Promise<Result> | undefined;
}

/**
 * One computation for all callers that ask the same at the same time. It begins in the next iteration of the event
 * loop, for all callers until then. Callers that come while it is under way share the next one. So no caller is answered
 * by what was read before it asked, and no more than one computation of a name runs.
 */
export class SingleFlight<Result> {
  readonly #flights = new Map<string, Flight<Result>>();

  /** Names whose computation is under way. */
  get size(): number {
    return this.#flights.size;
  }

  /** Whether a computation of this name is under way: a caller shares one with others now. */
  has(name: string): boolean {
    return this.#flights.has(name);
  }

  do(name: string, work: () => Promise<Result>): Promise<Result> {
    const flight = this.#flights.get(name);
    if (flight === undefined) return this.#begin(name, work);
    if (!flight.hasBegun) return flight.result;
    const again = () => this.do(name, work);
    flight.next ??= flight.result.then(again, again);
    return flight.next;
  }

  #begin(name: string, work: () => Promise<Result>): Promise<Result> {
    const flight: Flight<Result> = { result: this.#run(name, work), hasBegun: false, next: undefined };
    this.#flights.set(name, flight);
    return flight.result;
  }

  async #run(name: string, work: () => Promise<Result>): Promise<Result> {
    await yieldToEventLoop();
    const flight = this.#flights.get(name);
    if (flight !== undefined) flight.hasBegun = true;
    try {
      return await work();
    } finally {
      this.#flights.delete(name);
    }
  }
}
