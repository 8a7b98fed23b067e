import type { AttestationRecord } from '../chain/record.ts';
import { isKeyId, type KeyId } from './key-id.ts';

const SOURCE_PREFIX = 'meridian/refused/';

/** The source of the record by which a node refuses a key for good. It names the key, so that every member reads it. */
export function refusalSource(key: KeyId): string {
  return SOURCE_PREFIX + key;
}

/**
 * The key that a record of kind `account_key_refused` refuses; undefined where it names none, or is of another kind.
 */
export function refusedKeyOf({ kind, sourceId }: Pick<AttestationRecord, 'kind' | 'sourceId'>): KeyId | undefined {
  if (kind !== 'account_key_refused' || !sourceId.startsWith(SOURCE_PREFIX)) return undefined;
  const id = sourceId.slice(SOURCE_PREFIX.length);
  return isKeyId(id) ? id : undefined;
}
