/** What a test can make go wrong. The first six are probabilities, 0 to 1, drawn again for every call. */
export interface Faults {
  /** The node answers BUSY. */
  readonly busy: number;
  /** The node answers PLATFORM_TRANSACTION_NOT_CREATED. */
  readonly notCreated: number;
  /** The node answers OK, and the transaction never reaches consensus. */
  readonly lostBeforeConsensus: number;
  /** The transaction is taken, and the call never answered. */
  readonly hangAfterAccept: number;
  /** A receipt that exists is answered as UNKNOWN. */
  readonly receiptUnavailable: number;
  /** The call fails with the gRPC status UNAVAILABLE. */
  readonly unavailable: number;
  /** The mirror answers nothing but 503 and UNAVAILABLE. */
  readonly mirrorDown: boolean;
  /** The mirror shows the ledger as it was this many milliseconds ago. */
  readonly mirrorLagMs: number;
  /** No transaction reaches consensus, and the consensus clock stands still. */
  readonly roundPaused: boolean;
}

export type FaultRate = {
  [K in keyof Faults]: K extends 'mirrorLagMs' ? never : Faults[K] extends number ? K : never;
}[keyof Faults];

export const NO_FAULTS: Faults = {
  busy: 0,
  notCreated: 0,
  lostBeforeConsensus: 0,
  hangAfterAccept: 0,
  receiptUnavailable: 0,
  unavailable: 0,
  mirrorDown: false,
  mirrorLagMs: 0,
  roundPaused: false,
};

/** The faults in force, and the dice. */
export class FaultBox {
  #faults: Faults = NO_FAULTS;
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  get now(): Faults {
    return this.#faults;
  }

  strikes(rate: FaultRate): boolean {
    return this.#faults[rate] > 0 && this.#random() < this.#faults[rate];
  }

  /**
   * Sets the given faults and leaves the others.
   *
   * @throws TypeError if a name is unknown or a value out of range; then nothing is changed
   */
  set(changes: unknown): Faults {
    if (typeof changes !== 'object' || changes === null) throw new TypeError('faults are a JSON object');
    for (const [name, value] of Object.entries(changes)) requireFault(name, value);
    this.#faults = { ...this.#faults, ...changes };
    return this.#faults;
  }
}

function requireFault(name: string, value: unknown): void {
  if (!Object.hasOwn(NO_FAULTS, name)) throw new TypeError(`unknown fault: ${name}`);
  if (name === 'mirrorDown' || name === 'roundPaused') {
    if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
    return;
  }
  const max = name === 'mirrorLagMs' ? Number.MAX_SAFE_INTEGER : 1;
  if (typeof value !== 'number' || !(value >= 0 && value <= max)) throw new TypeError(`${name} must be 0 to ${max}`);
  if (name === 'mirrorLagMs' && !Number.isInteger(value)) throw new TypeError('mirrorLagMs must be whole milliseconds');
}
