import { hash } from 'node:crypto';
import { type OutboxStatus, outboxTable, readOutbox } from '../../node/anchoring/outbox.ts';
import type { Operation } from '../../node/store/operation.ts';
import type { Store } from '../../node/store/store.ts';

/** The node that faults hit, and the peer that holds and witnesses its chain. */
export const VICTIM = 'us';
export const PEER = 'eu';

/** A write by which a record or a batch gets one step further. */
export interface WriteStep {
  readonly name: string;
  /** What was done last when it begins. */
  readonly before: string;
  /** Whose records it moves on. */
  readonly origin: typeof VICTIM | typeof PEER;
  /** Beginning of the key of the row that makes the step; then comes the number that `counts` tells. */
  readonly row: string;
  readonly counts: 'records' | 'batches';
  /** Of an outbox row. */
  readonly status?: OutboxStatus;
}

/** Every write on the way of a record, in order; the last is what a peer does for another node's batch. */
export const WRITE_STEPS = [
  { name: 'group written', before: 'group signed', origin: VICTIM, row: `group/${VICTIM}/`, counts: 'records' },
  {
    name: 'batch sealed and its outbox row written',
    before: 'batch signed',
    origin: VICTIM,
    row: `envelope/${VICTIM}/`,
    counts: 'batches',
  },
  {
    name: 'anchor frozen',
    before: 'anchor transaction signed',
    origin: VICTIM,
    row: 'outbox/',
    counts: 'batches',
    status: 'prepared',
  },
  {
    name: 'submission noted',
    before: 'anchor submitted to the ledger',
    origin: VICTIM,
    row: 'outbox/',
    counts: 'batches',
    status: 'submitted',
  },
  {
    name: 'decision written',
    before: 'name read from the topic',
    origin: VICTIM,
    row: `log-batch/${VICTIM}/`,
    counts: 'batches',
  },
  {
    name: 'outbox row closed',
    before: 'batch confirmed',
    origin: VICTIM,
    row: 'outbox-closed/',
    counts: 'batches',
  },
  {
    name: 'body stored at a peer',
    before: 'body fetched by a peer',
    origin: PEER,
    row: `envelope/${PEER}/`,
    counts: 'batches',
  },
] as const satisfies readonly WriteStep[];

export type StepName = (typeof WRITE_STEPS)[number]['name'];

export function writeStep(name: string): WriteStep {
  const step = WRITE_STEPS.find((candidate) => candidate.name === name);
  if (step === undefined) throw new RangeError(`no step of the write path: ${name}`);
  return step;
}

export interface StepRow {
  readonly number: number;
  readonly key: string;
  readonly value: Uint8Array;
}

/** What tells a row on the disk from an earlier or later one of its key. */
export interface RowMark {
  readonly key: string;
  /** Of the value, in hex. */
  readonly sha256: string;
}

export function markOf({ key, value }: StepRow): RowMark {
  return { key, sha256: hash('sha256', value) };
}

/** Whether a step was made, by that row or another. */
export async function isMade({ status }: WriteStep, { key, number }: StepRow, store: Store): Promise<boolean> {
  if (status === undefined) return (await store.get(key)) !== undefined;
  const history = (await readOutbox(store, number))?.history ?? [];
  return history.some((event) => event.status === status || event.status === 'confirmed');
}

/** The row of an atomic write that makes the step for a number above `after`. */
export function rowOfStep(
  { row, status }: WriteStep,
  operations: readonly Operation[],
  after: number,
): StepRow | undefined {
  for (const operation of operations) {
    if (operation.type !== 'put' || !operation.key.startsWith(row)) continue;
    const number = Number(operation.key.slice(row.length).split('/')[0]);
    if (number <= after) continue;
    const { key, value } = operation;
    if (status === undefined || outboxTable.decode(value).status === status) return { number, key, value };
  }
  return undefined;
}
