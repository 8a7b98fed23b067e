/** Whose call is under way: the request it is for, and the proof that its payer showed. */
export interface Claim {
  readonly request: string;
  readonly proof: string;
}

/** Whether somebody still waits for the answer of a call. */
export type IsWanted = () => boolean;

/** One key's work that is under way. */
export class OngoingCall<Result> {
  /** Null where it is nobody's call. */
  readonly claim: Claim | null;
  readonly #result: Promise<Result>;
  readonly #waiting: IsWanted[] = [];

  constructor(claim: Claim | null, run: (ongoing: OngoingCall<Result>) => Promise<Result>) {
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
export class OngoingCalls<Result> {
  readonly #ongoingCalls = new Map<string, OngoingCall<Result>>();

  get(key: string): OngoingCall<Result> | undefined {
    return this.#ongoingCalls.get(key);
  }

  /** Begins a flight. Only where `get` has just found none. */
  begin(key: string, claim: Claim | null, run: (ongoing: OngoingCall<Result>) => Promise<Result>): OngoingCall<Result> {
    if (this.#ongoingCalls.has(key)) throw new RangeError('a flight of this key is under way');
    const ongoing = new OngoingCall<Result>(claim, async (own) => {
      try {
        return await run(own);
      } finally {
        this.#ongoingCalls.delete(key);
      }
    });
    this.#ongoingCalls.set(key, ongoing);
    return ongoing;
  }

  /** Resolves when none of those under way now is any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#ongoingCalls.values()].map((ongoing) => ongoing.over()));
  }
}
