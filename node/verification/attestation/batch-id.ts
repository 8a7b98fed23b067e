import { hashBytes, hashText } from '../../../protocol/hash.ts';
import type { StoredBatch } from '../../records/batch-tables.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { ULID_RANDOM_BYTES, ulid } from '../../records/ulid.ts';

/** A batch's public id, `bat_eu_…`: a ULID of its sealing time and its envelope's hash, the same on every node. */
export function batchId({ envelope, signed }: StoredBatch): string {
  const hash = hashBytes(hashText(nativeSuite, signed.statement));
  return `bat_${envelope.node}_${ulid(Date.parse(envelope.sealedAt), hash.subarray(0, ULID_RANDOM_BYTES))}`;
}
