import { LRUCache } from 'lru-cache';
import type { WholeTexts } from '../../protocol/chain/record.ts';
import { checksumOf, compressedTextCodec } from '../store/compressed-text.ts';
import { joinTexts, splitTexts } from './record-lines.ts';
import { bodyTable } from './record-tables.ts';

/** A body row as it is stored, and its records. */
interface OpenedBody {
  readonly stored: Uint8Array;
  readonly records: readonly WholeTexts[];
  /** What both take in memory. */
  readonly bytes: number;
}

/** What is kept of all stores: some 240 rows of 64 usual records. In bytes. */
const MAX_BYTES = 16 << 20;
/** Of a record's two texts and the objects that hold them, beside their characters. */
const RECORD_BYTES = 150;

/** By the rows' checksums. */
const kept = new LRUCache<number, OpenedBody>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes });

/**
 * (node, first seq) → the records of a body row: `bodyTable` for those who read single records. To decompress a row
 * takes a hundred microseconds, so what compressed rows opened to is kept beside their bytes. The stored bytes are read
 * each time, and all of them are compared: a row that rots on the disk or is rewritten is never answered from memory.
 * What would rot in memory fails the walk to the signed root like any other text.
 */
export const openedBodyTable = bodyTable.by<readonly WholeTexts[]>({
  encode: (records) => compressedTextCodec.encode(joinTexts(records)),
  decode(stored) {
    const checksum = checksumOf(stored);
    return checksum === undefined ? splitTexts(compressedTextCodec.decode(stored)) : openKept(stored, checksum);
  },
});

function openKept(stored: Uint8Array, checksum: number): readonly WholeTexts[] {
  const known = kept.get(checksum);
  if (known !== undefined && Buffer.compare(known.stored, stored) === 0) return known.records;
  const text = compressedTextCodec.decode(stored);
  const records = splitTexts(text);
  kept.set(checksum, { stored, records, bytes: stored.length + text.length + records.length * RECORD_BYTES });
  return records;
}
