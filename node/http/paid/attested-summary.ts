import { encodeBase64url } from '../../../protocol/bytes.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import type { Facts } from '../../../protocol/chain/facts.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { randomBytesPooled } from '../../randomness.ts';
import type { PaidCall } from '../route.ts';

/** What was found out for a payer. */
export interface Summary {
  /** The answer's own members; the record's payload is their canonical text. */
  readonly members: JsonObject;
  readonly claims: Omit<Facts, 'channel'>;
}

export interface AttestedSummary {
  readonly members: JsonObject;
  /** Base64url of the salt of `payloadHash`. */
  readonly salt: string;
  readonly record: AttestationRecord;
}

/**
 * Finds something out and attests it, once for each payment: a later attempt is told what was found the first time. The
 * payer gets the salt, so that he can show what the record commits to; `find` may commit to more with it.
 */
export async function attestSummary(
  { recording, account }: PaidCall,
  kind: AttestationRecord['kind'],
  sourceId: string,
  find: (salt: Uint8Array) => Promise<Summary>,
): Promise<AttestedSummary> {
  const { records, kept } = await recording.record(async () => {
    const salt = randomBytesPooled(SALT_BYTES);
    const { members, claims } = await find(salt);
    const draft = {
      kind,
      account,
      sourceId,
      payload: canonicalize(members),
      claims: { ...claims, channel: 'tiered' as const },
      links: {},
      salt,
    };
    return { drafts: [draft], kept: { members, salt: encodeBase64url(salt) } };
  });
  const [record] = records;
  const { members, salt } = kept;
  if (record === undefined || typeof salt !== 'string' || members === undefined || !isJsonObject(members)) {
    throw new RangeError('what was kept of a summary is something else');
  }
  return { members, salt, record };
}
