import type { CallHandlers, PortCaller } from '../concurrency/port-call.ts';
import type { RangeOptions, Reads } from './store.ts';

/** Rows that one call brings: few enough that nobody waits for them, enough that a call costs little for each. */
const ROWS_AT_ONCE = 64;

type Row = [key: string, value: Uint8Array];

/** How another thread reads the store of this one. */
export type StoreCalls = {
  readonly get: { readonly argument: string; readonly result: Uint8Array | undefined };
  readonly rows: { readonly argument: RangeOptions; readonly result: readonly Row[] };
};

/** Answers such calls from a store. */
export function storeHandlers(store: Reads): CallHandlers<StoreCalls> {
  return {
    get: (key) => store.get(key),
    rows: ({ limit = ROWS_AT_ONCE, ...range }) =>
      Array.fromAsync(store.range({ ...range, limit: Math.min(limit, ROWS_AT_ONCE) })),
  };
}

/**
 * The rows of a store that another thread has open. A range is no snapshot of one moment: each call sees what is written
 * by then. For rows that do not change once they are there.
 */
export class PortReads implements Reads {
  readonly #calls: PortCaller<StoreCalls>;

  constructor(calls: PortCaller<StoreCalls>) {
    this.#calls = calls;
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return this.#calls.call('get', key);
  }

  async first(options: RangeOptions): Promise<Row | undefined> {
    const [row] = await this.#calls.call('rows', { ...options, limit: 1 });
    return row;
  }

  async *range({ limit = Number.POSITIVE_INFINITY, ...range }: RangeOptions): AsyncGenerator<Row> {
    let asked: RangeOptions = range;
    for (let left = limit; left > 0;) {
      const most = Math.min(left, ROWS_AT_ONCE);
      const rows = await this.#calls.call('rows', { ...asked, limit: most });
      yield* rows;
      const last = rows.at(-1)?.[0];
      if (rows.length < most || last === undefined) return;
      left -= rows.length;
      asked = after(range, last);
    }
  }
}

/** What is left of a range behind a row of it. */
function after({ reverse = false, gte, gt, lte, lt }: RangeOptions, last: string): RangeOptions {
  return reverse
    ? { reverse, lt: last, ...(gte !== undefined && { gte }), ...(gt !== undefined && { gt }) }
    : { gt: last, ...(lte !== undefined && { lte }), ...(lt !== undefined && { lt }) };
}
