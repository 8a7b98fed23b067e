import type { NodeId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { CountedRows, CountEnd } from '../records/count-end.ts';
import type { Table } from '../store/table.ts';
import type { Check } from './check.ts';
import type { Finding } from './report.ts';
import { decodeRow, readRows } from './rows.ts';

/** `other`: counted by other rules, or nobody can say how far. */
export type CountStanding = 'marked' | 'unmarked' | 'other';

/**
 * The mark up to which rows count the own records. Those after it are put off, or were when the node ended: it counts
 * them at its next start.
 */
export class CountEndWalk {
  readonly #check: Check;
  readonly #counted: CountedRows;
  /** The first record that is not counted. */
  #next = Number.POSITIVE_INFINITY;
  /** The seq after that of the last record. */
  #end = 1;

  constructor(check: Check, counted: CountedRows) {
    this.#check = check;
    this.#counted = counted;
  }

  /** Names counts by other rules, and a mark that does not read. */
  async read(): Promise<CountStanding> {
    const { own, store, report } = this.#check;
    const { ends, version } = this.#counted;
    const row = own === null ? undefined : await store.get(ends.key(own));
    if (own === null || row === undefined) return 'unmarked';
    const end = decodeRow(report, ends, ends.key(own), row);
    if (end === undefined) return 'other';
    if (end.version !== version) {
      report.find(notCounted(ends, own));
      return 'other';
    }
    this.#next = end.next;
    return 'marked';
  }

  isCounted({ seq }: Pick<AttestationRecord, 'seq'>): boolean {
    return seq < this.#next;
  }

  /** Those of the records that the rows count. */
  counted<Counted extends Pick<AttestationRecord, 'seq'>>(records: readonly Counted[]): readonly Counted[] {
    const last = records.at(-1);
    if (last === undefined) return records;
    this.#end = Math.max(this.#end, last.seq + 1);
    return this.isCounted(last) ? records : records.filter((record) => this.isCounted(record));
  }

  /** After the last record. */
  async finish(): Promise<void> {
    const { own, report } = this.#check;
    const { ends } = this.#counted;
    for await (const { key, parts, value } of readRows(this.#check, ends)) {
      if (own === null || parts.join('/') !== own) report.problem(ends.name, key, 'belongs to no own records');
      else if (value !== undefined && value.next > this.#end) {
        report.problem(ends.name, key, `counts up to record ${value.next - 1}, and the last one is ${this.#end - 1}`);
      }
    }
  }
}

/** The node counts again: nothing is proven by such rows, and nothing lost. */
export function notCounted(ends: Table<CountEnd>, own: NodeId): Finding {
  const detail = 'is not counted by the rules of this version: the node counts its records anew at its next start';
  return { severity: 'note', table: ends.name, key: ends.key(own), detail };
}
