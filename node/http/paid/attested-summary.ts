import { encodeBase64url } from '../../../protocol/bytes.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import type { Facts } from '../../../protocol/chain/facts.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { PaidAnswer } from '../../payments/paid-request.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import type { PaidCall } from '../route.ts';
import { ATTESTATION_BLANKS, attestationTail, type VerifyUrl } from './attestation-tail.ts';

/** What was found out for a payer. */
export interface Summary {
  /** The answer's own members; the record's payload is their canonical text. */
  readonly members: JsonObject;
  readonly claims: Omit<Facts, 'channel'>;
  /** Of an answer to a POST: what the caller should look at. No part of the payload. */
  readonly warnings?: readonly string[];
}

/** What a summary is recorded as. */
export interface SummaryOptions {
  readonly kind: AttestationRecord['kind'];
  readonly sourceId: string;
  readonly verifyUrl: VerifyUrl;
}

/**
 * Finds something out and attests it. The payer gets the salt, so that he can show what the record commits to; `find` may
 * commit to more with it.
 */
export async function attestSummary(
  { recording, account }: PaidCall,
  { kind, sourceId, verifyUrl }: SummaryOptions,
  find: (salt: Uint8Array) => Promise<Summary>,
): Promise<PaidAnswer> {
  const salt = randomBytesPooled(SALT_BYTES);
  const { members, claims, warnings } = await find(salt);
  const record = await recording.prepareOne({
    kind,
    account,
    sourceId,
    payload: canonicalize(members),
    claims: { ...claims, channel: 'tiered' },
    links: {},
    salt,
  });
  return {
    body: {
      success: true,
      ...members,
      salt: encodeBase64url(salt),
      ...(warnings === undefined ? {} : { warnings: [...warnings] }),
      attestation: attestationTail(record, verifyUrl),
    },
    blanks: ATTESTATION_BLANKS,
  };
}
