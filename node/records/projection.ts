import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Operation } from '../store/operation.ts';
import { numberCodec, Table } from '../store/table.ts';

/**
 * Rows that follow from one signed record alone, each holding that record's id. They land in the record's own write,
 * are made again when records are taken back from peers, and `fsck` compares them with the records.
 */
export interface Projection {
  readonly table: Table<string>;
  readonly rowsOf: (record: AttestationRecord) => readonly Operation[];
}

/** (node) → version by which the rows of its projections are made. */
export const projectionVersionTable = new Table('projection-version', numberCodec);
