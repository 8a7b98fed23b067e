import { encodeBase64url } from '../../../protocol/bytes.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import type { Draft } from '../../intake/draft.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import type { FactSnapshot } from './fact-cache.ts';

/** Source that facts about the ledger are recorded under. */
const SOURCE_ID = 'meridian/hedera-facts';

/** A snapshot, and the salt with which its record commits to it: whoever is given both can show what was attested. */
export interface AttestableFact {
  readonly told: JsonObject;
  readonly draft: Draft;
}

export function attestableFact(account: string, snapshot: FactSnapshot): AttestableFact {
  const salt = randomBytesPooled(SALT_BYTES);
  const { fact, observedAt, rawHash } = snapshot;
  return {
    told: { ...snapshot, salt: encodeBase64url(salt) },
    draft: {
      kind: 'fact',
      account,
      sourceId: SOURCE_ID,
      payload: canonicalize(snapshot),
      claims: { channel: 'tiered', fact, observedAt, rawHash },
      links: {},
      salt,
    },
  };
}
