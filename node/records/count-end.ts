import Type, { type Static } from 'typebox';
import type { NodeId } from '../../protocol/ids.ts';
import { OrdinalShape } from '../../protocol/shapes.ts';
import type { Operation } from '../store/operation.ts';
import type { Table } from '../store/table.ts';

export const CountEndShape = Type.Object(
  { version: OrdinalShape, next: OrdinalShape },
  { additionalProperties: false },
);
/** By which rules was counted, and the first record that is not. */
export type CountEnd = Static<typeof CountEndShape>;

/** Rows that follow from a node's own records, and the mark that says up to which one they count: written together. */
export interface CountedRows {
  readonly rows: Table<unknown>;
  /** (node) → how far its records are counted. */
  readonly ends: Table<CountEnd>;
  /** Goes up where records count otherwise than before: then all are counted again when the node starts. */
  readonly version: number;
}

/** The row of the mark. `next`: the first record that is not counted. */
export function countEndOperation({ ends, version }: CountedRows, node: NodeId, next: number): Operation {
  return ends.put([node], { version, next });
}
