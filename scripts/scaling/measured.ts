/** Bytes between members, TLS and all, and microseconds of processor time. */
export interface Cost {
  readonly received: number;
  readonly sent: number;
  readonly cpu: number;
}

/** Bytes of keys and values in a member's store. */
export interface Stored {
  /** Of one record, anyone's. */
  readonly record: number;
  /** Of one batch with its decision, anyone's. */
  readonly batch: number;
  /** Of one own record besides: payload, key, counts, outbox. */
  readonly own: number;
}

/** What a simulation of one size gave. */
export interface Measured {
  readonly members: number;
  /** Of each batch of the large round. */
  readonly records: number;
  /** Of one member in a second. */
  readonly idle: Cost;
  /** Of one member in a round in which every member sealed one batch of one record. `everywhere` in milliseconds. */
  readonly small: Cost & { readonly everywhere: number };
  /** The same with `records` records each. */
  readonly large: Cost & { readonly everywhere: number };
  readonly stored: Stored;
  /** Of the whole federation while one member took everything back. */
  readonly catchUp: Cost & { readonly milliseconds: number };
  /** Until every member was connected with every other, in milliseconds. */
  readonly meshed: number;
  /** Resident bytes of a member, several of which share a process. */
  readonly memory: number;
}
