import { checkpointIntervalMs } from '../../node/log/checkpoints.ts';
import type { Cost, Measured, Stored } from './measured.ts';

type Quantity = keyof Cost;
const BYTES = ['received', 'sent'] as const satisfies readonly Quantity[];

const SECONDS_A_DAY = 86_400;
/** Price of one ledger message in dollars; each byte of its transaction over `FREE_BYTES` costs more. */
const MESSAGE_USD = 0.0008;
const FREE_BYTES = 1024;
const BYTE_USD = 0.000_01;
/** A message that names a batch, and what its transaction has around it. In bytes. */
const NAME_BYTES = 390;
const TRANSACTION_BYTES = 200;

/** What each thing that happens costs a member, in each quantity. */
export interface UnitCosts {
  /** Making one record, and taking in one of another member. */
  readonly ownRecord: Cost;
  readonly record: Cost;
  /** Sealing and naming one batch, and taking in one of another member, without records and checkpoints. */
  readonly ownBatch: Cost;
  readonly batch: Cost;
  /** Taking in another member's checkpoint. */
  readonly checkpoint: Cost;
  /** An idle second: for itself, for each peer, and for each peer and member that the peer speaks of. */
  readonly self: Cost;
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
}

/** A day: of one member, unless it says otherwise. */
export interface Day {
  /** Of all members. */
  readonly batches: number;
  /** Checkpoints that the member signs. */
  readonly checkpoints: number;
  /** In bytes. */
  readonly received: number;
  readonly sent: number;
  readonly stored: number;
  /** Processor cores that are busy all day. */
  readonly cores: number;
  /** Of all members. */
  readonly ledgerUsd: number;
}

/**
 * Unit costs from two federations of different size: two equations, for the two things that matter most. In a round
 * every member seals one batch, one after the other, so of n members each takes in n-1 batches and n·(n-1) checkpoints.
 * Of bytes none are a member's own; of its processor its own batch, which it names, takes the most, so that what the
 * n-1 others take shows nowhere but with their checkpoints.
 */
export function fit(a: Measured, b: Measured): UnitCosts {
  if (a.members === b.members) throw new RangeError('two sizes are needed');
  const others = ({ members }: Measured) => members - 1;
  const pairs = (measured: Measured) => others(measured) * measured.members;
  const bytes = (x: Of, y: Of, value: (measured: Measured, quantity: Quantity) => number) =>
    BYTES.map((q) => solve(a, b, x, y, (measured) => value(measured, q)));
  const costs = (received = 0, sent = 0, cpu = 0): Cost => ({ received, sent, cpu });
  const round = bytes(others, pairs, ({ small }, q) => small[q]);
  const idle = bytes(others, pairs, (m, q) => m.idle[q]);
  const records = BYTES.map((q) => (addedByRecord(a, q) / others(a) + addedByRecord(b, q) / others(b)) / 2);
  const [ownBatch, checkpoint] = solve(a, b, one, pairs, ({ small }) => small.cpu);
  const [ownRecord, record] = solve(a, b, one, others, (measured) => addedByRecord(measured, 'cpu'));
  const [self, peer] = solve(a, b, one, others, (measured) => measured.idle.cpu);
  const perRecord = costs(records[0], records[1], record);
  return {
    ownRecord: costs(0, 0, ownRecord),
    record: perRecord,
    ownBatch: costs(0, 0, ownBatch - ownRecord),
    batch: costs((round[0]?.[0] ?? 0) - perRecord.received, (round[1]?.[0] ?? 0) - perRecord.sent, -record),
    checkpoint: costs(round[0]?.[1], round[1]?.[1], checkpoint),
    self: costs(0, 0, self),
    peer: costs(idle[0]?.[0], idle[1]?.[0], peer),
    pair: costs(idle[0]?.[1], idle[1]?.[1]),
    stored: b.stored,
  };
}

/** What the unit costs say of a round in which every member seals one batch of so many records. */
export function predictBatch(costs: UnitCosts, members: number, records: number): Cost {
  const { ownRecord, record, ownBatch, batch, checkpoint } = costs;
  const others = members - 1;
  return cost(
    (q) => ownBatch[q] + records * ownRecord[q] + others * (batch[q] + records * record[q] + members * checkpoint[q]),
  );
}

/** What they say of a second in which nobody makes a record. */
export function predictIdle({ self, peer, pair }: UnitCosts, members: number): Cost {
  return cost((q) => self[q] + (members - 1) * (peer[q] + pair[q] * members));
}

/** What they say of a day. Every member makes its share of the records, all day long. */
export function predictDay(costs: UnitCosts, setting: Setting): Day {
  const { members, recordsADay, interval } = setting;
  const batches = Math.min(recordsADay, (members * SECONDS_A_DAY) / interval);
  const checkpoints = Math.min(batches, (SECONDS_A_DAY * 1000) / checkpointIntervalMs(members));
  const others = (members - 1) / members;
  const idle = predictIdle(costs, members);
  const spent = cost(
    (q) =>
      SECONDS_A_DAY * idle[q] +
      (recordsADay * costs.ownRecord[q] + batches * costs.ownBatch[q]) / members +
      others * (recordsADay * costs.record[q] + batches * costs.batch[q]) +
      (members - 1) * checkpoints * costs.checkpoint[q],
  );
  const { stored } = costs;
  return {
    batches,
    checkpoints,
    received: spent.received,
    sent: spent.sent,
    stored: recordsADay * stored.record + (recordsADay / members) * stored.own + batches * stored.batch,
    cores: spent.cpu / 1e6 / SECONDS_A_DAY,
    ledgerUsd: batches * messageUsd(NAME_BYTES + TRANSACTION_BYTES),
  };
}

/** What the ledger asks for one message, by the bytes of its transaction, in dollars. */
export function messageUsd(transactionBytes: number): number {
  return MESSAGE_USD + Math.max(0, transactionBytes - FREE_BYTES) * BYTE_USD;
}

type Of = (measured: Measured) => number;

function one(): number {
  return 1;
}

/** `[p, q]` so that p·x + q·y is the value in both federations. */
function solve(a: Measured, b: Measured, x: Of, y: Of, value: Of): readonly [p: number, q: number] {
  const determinant = x(a) * y(b) - x(b) * y(a);
  return [(value(a) * y(b) - value(b) * y(a)) / determinant, (x(a) * value(b) - x(b) * value(a)) / determinant];
}

/** What one record more in every member's batch costs a member. */
function addedByRecord({ small, large, records }: Measured, quantity: Quantity): number {
  return (large[quantity] - small[quantity]) / (records - 1);
}

function cost(of: (quantity: Quantity) => number): Cost {
  return { received: of('received'), sent: of('sent'), cpu: of('cpu') };
}
