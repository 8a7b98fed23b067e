import { type NodeId, type RecordId, recordId } from '../../protocol/ids.ts';
import { randomBytesPooled } from '../randomness.ts';
import { ULID_RANDOM_BYTES, ulid } from './ulid.ts';

/** What a record id's first letters say. */
export type IdPrefix = 'att';

/** A fresh id: prefix, node and a ULID of this moment with 80 random bits, e.g. `att_eu_01J…`. */
export function newRecordId(prefix: IdPrefix, node: NodeId, epochMilliseconds: number): RecordId {
  return recordId(`${prefix}_${node}_${ulid(epochMilliseconds, randomBytesPooled(ULID_RANDOM_BYTES))}`);
}
