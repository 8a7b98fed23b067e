import Type, { type Static } from 'typebox';
import { RegContentShape, RegItemIdShape } from '../../../protocol/api/regwatch-item.ts';
import { CHANGE_TYPES } from '../../../protocol/api/regwatch-words.ts';
import { Closed, CountShape, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../../../protocol/shapes.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Projection } from '../../records/projection.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';
import { MAX_KEY } from './entry.ts';

/** The account that a node's own items stand under. No account can have it: it holds a colon. */
export const REGWATCH_ACCOUNT = 'meridian:regwatch';
/** Before the id of a source, in the `sourceId` of a record. */
export const REGWATCH_SOURCE_PREFIX = 'meridian/regwatch/';
export const SOURCE_ID_PATTERN = '^[a-z0-9][a-z0-9-]{0,39}$';

/** Frameworks that the catalogue had at the time. */
const StoredContentShape = Closed({ ...RegContentShape.properties, frameworks: Type.Array(Type.String()) });

/** One revision of an item: the payload of its record. */
const RevisionShape = Closed({
  itemId: RegItemIdShape,
  source: Type.String({ pattern: SOURCE_ID_PATTERN }),
  /** Identity in its source. */
  key: Type.String({ minLength: 1, maxLength: MAX_KEY }),
  changeType: Type.Enum([...CHANGE_TYPES]),
  content: StoredContentShape,
  /** What the operator has set, from the first correction on: it stands whatever the source says later. */
  corrections: Type.Partial(StoredContentShape),
  /** Of the document that the item was read in; of what the operator wrote, its canonical text. */
  sourceHash: Sha256Shape,
  givenHash: Sha256Shape,
  /** Rules by which it was classified; null where the operator did. */
  rules: OrNull(Type.String()),
  sample: Type.Boolean(),
  /** The revision before. */
  supersedes: Type.Array(RecordIdShape, { maxItems: 1 }),
});
export type Revision = Readonly<Static<typeof RevisionShape>>;

/** How a source was met the last time. */
const SourceStateShape = Closed({
  url: Type.String(),
  etag: OrNull(Type.String()),
  lastModified: OrNull(Type.String()),
  documentHash: OrNull(Sha256Shape),
  checkedAt: TimestampShape,
  /** The last answer that was a document, or said that it is the same. */
  succeededAt: OrNull(TimestampShape),
  nextAt: TimestampShape,
  /** In a row. */
  failures: CountShape,
  error: OrNull(Type.String()),
});
export type SourceState = Readonly<Static<typeof SourceStateShape>>;

/** (record id) → the revision that the record attests: its payload. */
export const revisionTable = jsonTable('reg-revision', RevisionShape);
/** (item, seq) → record. The last is the item as it stands. */
export const itemTable = new Table('reg-item', textCodec);
/** (age, item, seq) → record. The newest comes first; of those of one moment, in order of the item's id. */
export const feedTable = new Table('reg-feed', textCodec);
/** (source id) → how it was met. */
export const sourceTable = jsonTable('reg-source', SourceStateShape);

/** Epoch milliseconds that age is counted back from: in the year 2286. */
const END_OF_TIME = 9_999_999_999_999;

/** Grows into the past. */
export function ageOf(epochMilliseconds: number): number {
  return Math.max(0, END_OF_TIME - epochMilliseconds);
}

export function isRegItem({ kind, claims }: AttestationRecord): boolean {
  return kind === 'reg_item' && claims.itemId !== undefined;
}

export const REGWATCH_PROJECTIONS: readonly Projection[] = [
  {
    table: itemTable,
    rowsOf: (record) => rowsOf(record, (item) => itemTable.put([item, record.seq], record.id)),
  },
  {
    table: feedTable,
    rowsOf: (record) =>
      rowsOf(record, (item) => feedTable.put([ageAt(record.submittedAt), item, record.seq], record.id)),
  },
];

function rowsOf<Row>(record: AttestationRecord, row: (itemId: string) => Row): Row[] {
  const { itemId } = record.claims;
  return isRegItem(record) && itemId !== undefined ? [row(itemId)] : [];
}

function ageAt(time: Timestamp): number {
  return ageOf(Date.parse(time));
}
