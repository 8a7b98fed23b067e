import type { PackId } from '../../protocol/api/evidence-packs.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import type { Draft } from '../intake/draft.ts';

/** The source under which a node records the packs of an account. */
export const PACK_SOURCE = 'meridian/evidence-packs';

/** What intake records of a pack: the hash of its manifest. It counts against no limit: the node makes it. */
export function packDraft(account: string, packId: PackId, packManifest: Sha256Hash): Draft {
  return {
    kind: 'key_event',
    account,
    sourceId: PACK_SOURCE,
    payload: canonicalize({ keyEvent: 'evidence-pack', packId, packManifest }),
    claims: { channel: 'tiered', keyEvent: 'evidence-pack', packManifest },
    links: {},
  };
}
