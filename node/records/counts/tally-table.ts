import { decodeUtf8 } from '../../../protocol/bytes.ts';
import { isRecordId, type RecordId } from '../../../protocol/ids.ts';
import { CountEndShape, type CountedRows } from '../count-end.ts';
import { type Codec, jsonTable, Table } from '../../store/table.ts';

/** How many records there are, with the ids of the first ones and of the last. */
export interface FacetCount {
  readonly count: number;
  readonly first: readonly RecordId[];
  readonly last: RecordId;
}

/** First ids that a row names. */
export const FIRST_IDS = 3;

/** `count last first…`, in ASCII. A row is written for each facet of each group, so writing it is cheap. */
const countCodec: Codec<FacetCount> = {
  encode: ({ count, first, last }) => Buffer.from(`${count} ${last} ${first.join(' ')}`, 'latin1'),
  decode: readCount,
};

/** (account, source key or `all`, UTC day, facet) → how many records of this node. A projection of its own records. */
export const tallyTable = new Table('tally', countCodec);
/** (node) → how far its records are counted. */
export const tallyEndTable = jsonTable('tally-end', CountEndShape);

/** Goes up where records get other facets than before: then all are counted again when the node starts. */
export const TALLY_VERSION = 4;

export const TALLIED: CountedRows = { rows: tallyTable, ends: tallyEndTable, version: TALLY_VERSION };

/** Stands in the place of a source key where all sources of the account are counted together. */
export const ALL_SOURCES = 'all';

function readCount(bytes: Uint8Array): FacetCount {
  const [digits = '', last = '', ...first] = decodeUtf8(bytes).split(' ');
  const count = Number(digits);
  const isCount = Number.isSafeInteger(count) && String(count) === digits && count >= Math.max(1, first.length);
  if (!isCount || !isRecordId(last) || first.length === 0 || first.length > FIRST_IDS || !first.every(isRecordId)) {
    throw new TypeError('a stored count has another form');
  }
  return { count, first, last };
}
