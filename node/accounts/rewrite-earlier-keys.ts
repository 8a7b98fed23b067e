import type { NodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Store } from '../store/store.ts';
import {
  ADMIN_TERMS,
  type ApiKey,
  apiKeyTable,
  type EarlierKey,
  freshKey,
  isEarlierKey,
  keyOperations,
} from './api-key.ts';
import { newKeyId } from './key-id.ts';

/**
 * Gives keys of earlier stores, which had neither id nor scopes, the form of today: each could do everything, so each
 * becomes an admin key. A crash half-way leaves some for the next start; no key is lost or changes hands.
 */
export async function rewriteEarlierKeys(store: Store, node: NodeId, now: number): Promise<void> {
  for await (const [[digest = ''], row] of apiKeyTable.under(store, [])) {
    if (isEarlierKey(row)) await store.write(keyOperations(digest, adminKey(row, node, now)));
  }
}

function adminKey({ account, revoked }: EarlierKey, node: NodeId, now: number): ApiKey {
  const at = timestampOf(now);
  return { ...freshKey(newKeyId(node, now), account, ADMIN_TERMS, at), revokedAt: revoked ? at : null };
}
