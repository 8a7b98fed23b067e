interface ArrivingBody {
  bytes: number;
  readonly shed: () => void;
}

/** The place of one body in a budget. It must be given back, once. */
export interface BodyShare {
  /** Counts a piece that has arrived. May shed any body of the budget, this one too, before it returns. */
  grow(bytes: number): void;
  release(): void;
}

/**
 * A bound on the bytes of all bodies that are arriving. When a piece goes over it the largest body of all is shed, so
 * callers who fill the budget with large bodies that never end are the ones to go, and a small body gets through.
 */
export class BodyBudget {
  readonly #limit: number;
  readonly #arriving = new Set<ArrivingBody>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `shed` is called at most once, and releases the share. */
  open(shed: () => void): BodyShare {
    const body: ArrivingBody = { bytes: 0, shed };
    this.#arriving.add(body);
    return {
      grow: (bytes) => {
        body.bytes += bytes;
        this.#bytes += bytes;
        while (this.#bytes > this.#limit) this.#shedLargest();
      },
      release: () => this.#close(body),
    };
  }

  #shedLargest(): void {
    let largest: ArrivingBody | undefined;
    for (const body of this.#arriving) if (largest === undefined || body.bytes > largest.bytes) largest = body;
    if (largest === undefined) throw new RangeError('bytes are counted that no body has');
    this.#close(largest);
    largest.shed();
  }

  #close(body: ArrivingBody): void {
    if (this.#arriving.delete(body)) this.#bytes -= body.bytes;
  }
}
