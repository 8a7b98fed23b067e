import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Closed, TimestampShape } from '../../protocol/shapes.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import type { RecordCounter } from './record-counters.ts';
import { groupTable } from './record-tables.ts';

/**
 * A record whose time lies before that of the record before it: the node's clock was ahead, and was set right. Between
 * two of them the records of a node stand in order of time.
 */
export interface TimeStep {
  readonly seq: number;
  /** Time of the record before. */
  readonly before: Timestamp;
  /** Its own. */
  readonly after: Timestamp;
}

/** (own node, seq) → where the time of its records goes back. Nearly always empty. */
export const timeStepTable = jsonTable('time-step', Closed({ before: TimestampShape, after: TimestampShape }));

/** The row of a record that comes after another one, where its time goes back. */
export function timeStepOperations(node: NodeId, seq: number, before: Timestamp, after: Timestamp): Operation[] {
  return after < before ? [timeStepTable.put([node, seq], { before, after })] : [];
}

/** Where the time of a node's records goes back, in order of seq. Of another node's records nothing is noted. */
export function readTimeSteps(store: Reads, node: NodeId): Promise<readonly TimeStep[]> {
  return Array.fromAsync(timeStepTable.under(store, [node]), ([[seq], step]) => ({ seq: Number(seq), ...step }));
}

/** Notes where the time of this node's records goes back, in the records' own write. */
export class TimeSteps implements RecordCounter {
  readonly #store: Reads;
  readonly #node: NodeId;
  /** Time of the last record on the disk; null before the first, undefined where it is not known. */
  #last: Timestamp | null | undefined;
  #staged: Timestamp | undefined;

  constructor(store: Reads, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  async load([first]: readonly AttestationRecord[]): Promise<void> {
    if (this.#last !== undefined || first === undefined) return;
    const before = await groupTable.last(this.#store, [this.#node], first.seq - 1);
    this.#last = before === undefined ? null : groupStatement.parse(before[1].statement).signedAt;
  }

  operations(records: readonly AttestationRecord[]): [Operation[]] {
    const rows: Operation[] = [];
    let last = this.#last ?? undefined;
    for (const { seq, submittedAt } of records) {
      if (last !== undefined) rows.push(...timeStepOperations(this.#node, seq, last, submittedAt));
      last = submittedAt;
    }
    this.#staged = last;
    return [rows];
  }

  committed(): void {
    this.#last = this.#staged;
  }

  forget(): void {
    this.#last = undefined;
    this.#staged = undefined;
  }
}
