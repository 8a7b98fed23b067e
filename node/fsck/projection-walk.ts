import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Projection } from '../records/projection.ts';
import type { Check } from './check.ts';
import { IndexWalk } from './index-walk.ts';
import { recordOfId } from './record-at.ts';

/** One projection against the records that it follows from: no row is missing, other, or left over. */
export class ProjectionWalk {
  readonly #check: Check;
  readonly #projection: Projection;
  readonly #index: IndexWalk<string>;

  constructor(check: Check, projection: Projection) {
    this.#check = check;
    this.#projection = projection;
    this.#index = new IndexWalk(check, projection.table);
  }

  async take(records: readonly AttestationRecord[]): Promise<void> {
    const rows = records.flatMap((record) =>
      this.#projection.rowsOf(record).map(({ key }) => ({ key, value: record.id })),
    );
    if (rows.length > 0) await this.#index.expect(rows);
  }

  /** After the last record. */
  async finish(): Promise<void> {
    await this.#index.finish(async ({ key, value }) => {
      const record = value === undefined ? undefined : await recordOfId(this.#check.store, value);
      return record !== undefined && this.#projection.rowsOf(record).some((row) => row.key === key);
    });
  }
}
