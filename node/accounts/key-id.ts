import { isKeyId, type KeyId } from '../../protocol/accounts/key-id.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { randomBytesPooled } from '../keys/randomness.ts';
import { ULID_RANDOM_BYTES, ulid } from '../records/record-id.ts';

export { isKeyId, type KeyId, KeyIdShape } from '../../protocol/accounts/key-id.ts';

/** A fresh key id of this moment. */
export function newKeyId(node: NodeId, epochMilliseconds: number): KeyId {
  const id = `key_${node}_${ulid(epochMilliseconds, randomBytesPooled(ULID_RANDOM_BYTES))}`;
  if (!isKeyId(id)) throw new RangeError(`no key id comes of ${node} and ${epochMilliseconds}`);
  return id;
}
