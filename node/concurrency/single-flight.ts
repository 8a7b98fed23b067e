import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

interface Flight<Result> {
  readonly result: Promise<Result>;
  hasBegun: boolean;
  /** For all who came since it began. */
  next: Promise<Result> | undefined;
}

/**
 * One computation for all who ask the same at the same time. It begins in the next turn of the event loop, for all who
 * came until then. Who comes later, while it is under way, waits for the next one, which they share again: so nobody is
 * answered by what was looked at before they asked, and of one name no more than one runs.
 */
export class SingleFlight<Result> {
  readonly #flights = new Map<string, Flight<Result>>();

  /** Names that are under way. */
  get size(): number {
    return this.#flights.size;
  }

  /** Whether one of this name is under way: who asks now shares one with others. */
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
