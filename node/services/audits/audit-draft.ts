import { encodeBase64url } from '../../../protocol/bytes.ts';
import type { Audit } from '../../../protocol/api/verify-audit.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import type { Draft } from '../../intake/draft.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';

/** Source that audits are recorded under. */
const SOURCE_ID = 'meridian/audit';

/**
 * The record of an audit, and the salt with which it commits to it. The payload names the audited record; no link does:
 * whoever likes to pay could otherwise bury what links to a record under audits of it.
 */
export function auditDraft(account: string, audit: Audit): { readonly draft: Draft; readonly salt: string } {
  const salt = randomBytesPooled(SALT_BYTES);
  const draft: Draft = {
    kind: 'audit',
    account,
    sourceId: SOURCE_ID,
    payload: canonicalize(audit),
    claims: { channel: 'tiered', verdict: audit.verdict, observedAt: audit.auditedAt },
    links: {},
    salt,
  };
  return { draft, salt: encodeBase64url(salt) };
}
