import type { Cost, Measured, Stored } from './measured.ts';

const QUANTITIES = ['received', 'sent', 'cpu'] as const satisfies readonly (keyof Cost)[];
type Quantity = (typeof QUANTITIES)[number];

const SECONDS_A_DAY = 86_400;
/** Price of one ledger message in dollars; each byte of its transaction over `FREE_BYTES` costs more. */
const MESSAGE_USD = 0.0008;
const FREE_BYTES = 1024;
const BYTE_USD = 0.000_01;
/** An anchor's message, and what its transaction has around it. In bytes. */
const ANCHOR_BYTES = 390;
const TRANSACTION_BYTES = 200;

/** What each thing that happens costs a member, in each quantity. */
export interface UnitCosts {
  /** Taking in one record of another member. */
  readonly record: Cost;
  /** Taking in one batch of another member, without records and cosignatures. */
  readonly batch: Cost;
  /** Taking in, or making, one cosignature of another member's batch. */
  readonly cosignature: Cost;
  /** A second beside another member: `peer` for each, and `pair` for each and each member that it speaks of. */
  readonly peer: Cost;
  readonly pair: Cost;
  readonly stored: Stored;
}

/** How a federation is run. */
export interface Setting {
  readonly members: number;
  /** Of all members together. */
  readonly recordsADay: number;
  /** Between two batches of one member, in seconds. */
  readonly interval: number;
  /** Members that cosign each batch. */
  readonly witnesses: number;
}

/** A day: of one member, unless it says otherwise. */
export interface Day {
  /** Of all members. */
  readonly batches: number;
  /** Of all members. */
  readonly cosignatures: number;
  /** Cosignatures that the member makes itself. */
  readonly signed: number;
  /** In bytes. */
  readonly received: number;
  readonly sent: number;
  readonly stored: number;
  /** Of `stored`, what is cosignatures. */
  readonly storedCosignatures: number;
  /** Processor cores that are busy all day. */
  readonly cores: number;
  /** Of all members. */
  readonly ledgerUsd: number;
}

/**
 * Unit costs from two federations of different size. In a round every member seals one batch, so of n members each takes
 * in n-1 batches and (n-1)² cosignatures; an idle second costs something for each peer, and for each peer and member that
 * it speaks of. Two sizes give two equations for each pair.
 */
export function fit(a: Measured, b: Measured): UnitCosts {
  if (a.members === b.members) throw new RangeError('two sizes are needed');
  const line = (of: (measured: Measured, quantity: Quantity) => number, at: (members: number) => number) => {
    const slope = cost((q) => (of(b, q) - of(a, q)) / (at(b.members) - at(a.members)));
    return { slope, start: cost((q) => of(a, q) - slope[q] * at(a.members)) };
  };
  const round = line(
    ({ small, members }, q) => small[q] / (members - 1),
    (members) => members - 1,
  );
  const idle = line(
    ({ idle: second, members }, q) => second[q] / (members - 1),
    (members) => members,
  );
  const record = cost((q) => (recordCost(a, q) + recordCost(b, q)) / 2);
  return {
    record,
    batch: cost((q) => round.start[q] - record[q]),
    cosignature: round.slope,
    peer: idle.start,
    pair: idle.slope,
    stored: b.stored,
  };
}

/** What the unit costs say of a round in which every member seals one batch of so many records. */
export function predictRound({ record, batch, cosignature }: UnitCosts, members: number, records: number): Cost {
  const others = members - 1;
  return cost((q) => others * (batch[q] + records * record[q]) + others ** 2 * cosignature[q]);
}

/** What they say of a second in which nobody makes a record. */
export function predictIdle({ peer, pair }: UnitCosts, members: number): Cost {
  return cost((q) => (members - 1) * (peer[q] + pair[q] * members));
}

/** What they say of a day. Every member makes its share of the records, all day long. */
export function predictDay(costs: UnitCosts, setting: Setting): Day {
  const { members, recordsADay, interval, witnesses } = setting;
  const batches = Math.min(recordsADay, (members * SECONDS_A_DAY) / interval);
  const cosignatures = batches * witnesses;
  const others = (members - 1) / members;
  const idle = predictIdle(costs, members);
  const spent = cost(
    (q) =>
      SECONDS_A_DAY * idle[q] +
      others * (recordsADay * costs.record[q] + batches * costs.batch[q] + cosignatures * costs.cosignature[q]),
  );
  const { stored } = costs;
  const storedCosignatures = cosignatures * stored.cosignature;
  return {
    batches,
    cosignatures,
    signed: cosignatures / members,
    received: spent.received,
    sent: spent.sent,
    stored:
      recordsADay * stored.record + (recordsADay / members) * stored.own + batches * stored.batch + storedCosignatures,
    storedCosignatures,
    cores: spent.cpu / 1e6 / SECONDS_A_DAY,
    ledgerUsd: batches * messageUsd(ANCHOR_BYTES + TRANSACTION_BYTES),
  };
}

/** What the ledger asks for one message, by the bytes of its transaction, in dollars. */
export function messageUsd(transactionBytes: number): number {
  return MESSAGE_USD + Math.max(0, transactionBytes - FREE_BYTES) * BYTE_USD;
}

function recordCost({ small, large, members, records }: Measured, quantity: Quantity): number {
  return (large[quantity] - small[quantity]) / ((records - 1) * (members - 1));
}

function cost(of: (quantity: Quantity) => number): Cost {
  return { received: of('received'), sent: of('sent'), cpu: of('cpu') };
}
