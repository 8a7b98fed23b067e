import { isKeyId, type KeyId } from '../../protocol/accounts/key-id.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { freshId } from '../records/record-id.ts';

export { isKeyId, type KeyId, KeyIdShape } from '../../protocol/accounts/key-id.ts';

/** A fresh key id of this moment. */
export function newKeyId(node: NodeId, epochMilliseconds: number): KeyId {
  return freshId('key', node, epochMilliseconds, isKeyId);
}
