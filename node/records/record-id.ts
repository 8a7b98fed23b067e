import { type NodeId, type RecordId, recordId } from '../../protocol/ids.ts';
import { randomBytesPooled } from '../keys/randomness.ts';
import { ULID_RANDOM_BYTES, ulid } from './ulid.ts';

/** A fresh id: `att`, node and a ULID of this moment with 80 random bits, e.g. `att_eu_01J…`. */
export function newRecordId(node: NodeId, epochMilliseconds: number): RecordId {
  return recordId(`att_${node}_${ulid(epochMilliseconds, randomBytesPooled(ULID_RANDOM_BYTES))}`);
}
