/** Whose call is under way: the request it is for, and the proof that its payer showed. */
export interface Claim {
  readonly request: string;
  readonly proof: string;
}

/** Whether somebody still waits for the answer of a call. */
export type IsWanted = () => boolean;

/** One key's work that is under way. */
export class Flight<Result> {
  /** Null where it is nobody's call. */
  readonly claim: Claim | null;
  readonly #result: Promise<Result>;
  readonly #waiting: IsWanted[] = [];

  constructor(claim: Claim | null, run: (flight: Flight<Result>) => Promise<Result>) {
    this.claim = claim;
    this.#result = Promise.resolve().then(() => run(this));
  }

  /** Callers who came, the first included. */
  get callers(): number {
    return this.#waiting.length;
  }

  /** Whether any of them is still there. */
  get isWanted(): boolean {
    return this.#waiting.some((isWanted) => isWanted());
  }

  /** The result, for one more caller. */
  join(isWanted: IsWanted): Promise<Result> {
    this.#waiting.push(isWanted);
    return this.#result;
  }

  /** Resolves when it is over, however it ends. */
  async over(): Promise<void> {
    await this.#result.catch(() => undefined);
  }
}

/** Lets one piece of work a key run at a time. A flight is gone from here before anyone learns of its result. */
export class Flights<Result> {
  readonly #flights = new Map<string, Flight<Result>>();

  get(key: string): Flight<Result> | undefined {
    return this.#flights.get(key);
  }

  /** Begins a flight. Only where `get` has just found none. */
  begin(key: string, claim: Claim | null, run: (flight: Flight<Result>) => Promise<Result>): Flight<Result> {
    if (this.#flights.has(key)) throw new RangeError('a flight of this key is under way');
    const flight = new Flight<Result>(claim, async (own) => {
      try {
        return await run(own);
      } finally {
        this.#flights.delete(key);
      }
    });
    this.#flights.set(key, flight);
    return flight;
  }

  /** Resolves when none of those under way now is any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#flights.values()].map((flight) => flight.over()));
  }
}
