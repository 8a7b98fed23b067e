import type { PaidTieredAttestRequest } from '../../../protocol/api/paid-tiered-attest.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import type { Facts } from '../../../protocol/chain/facts.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import type { Blank } from '../../payments/answer-draft.ts';
import type { PreparedRecord } from '../../payments/paid-recording.ts';
import type { PaidAnswer } from '../../payments/paid-request.ts';
import { type DecisionDraft, tieredDraft } from '../../verification/attestation/decision-drafts.ts';
import { requireReach } from '../recording/recording.ts';
import type { PaidCall } from '../route.ts';

/** Where a record can be verified, by anyone. */
export type VerifyUrl = (id: RecordId) => string;

/** Of the member `attestation`, what is known once the record is made. */
export const ATTESTATION_BLANKS: readonly Blank[] = [
  { at: ['attestation', 'submittedAt'], is: 'submittedAt' },
  { at: ['attestation', 'anchorExpectedBy'], is: 'anchorExpectedBy' },
];

/** The member `attestation` of a paid answer (api-rules §4.1): the record that is made of it once it is paid. */
export function attestationTail({ id, payloadHash }: PreparedRecord, verifyUrl: VerifyUrl) {
  return {
    attestationId: id,
    status: 'buffered',
    payloadHash,
    signatureAlgorithm: 'ML-DSA-65',
    submittedAt: null,
    anchorExpectedBy: null,
    verifyUrl: verifyUrl(id),
  } as const;
}

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
 * Finds something out and attests it. The payer gets the salt, so that he can show what the record commits to; `find`
 * may commit to more with it.
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

/** A decision that came with a payment, its form already checked. */
interface PaidDecision {
  readonly request: PaidTieredAttestRequest;
  /** What is signed as its payload, and those of its members that no schema names. */
  readonly body: JsonObject;
  readonly additional: ReadonlyMap<string, JsonValue>;
  /** The request’s, in the form that is signed. */
  readonly occurredAt: Timestamp | undefined;
}

/** A draft of nobody yet: whose it becomes is known once the payment holds. */
type UnownedDraft = Omit<DecisionDraft, 'account'>;
/** A draft whose salt the payer is told, so that he can recompute its commitments. */
export type SaltedDraft = DecisionDraft & { readonly salt: Uint8Array };

/**
 * The draft of a paid decision. The agent that it names is the payer's word. No person has a pseudonym in it: those are
 * made for accounts.
 */
export function paidDecisionDraft({ request, body, additional, occurredAt }: PaidDecision): UnownedDraft {
  const { agentId, sourceId = agentId } = request;
  const decision = { request: { ...request, sourceId }, body, additional };
  const { account: _none, ...draft } = tieredDraft('', decision, occurredAt);
  return { ...draft, claims: { ...draft.claims, agentId } };
}

/** Throws `Problem` 403 where an API key came along that is bound to other sources. */
export function ownedDraft(draft: UnownedDraft, { account, caller }: PaidCall): SaltedDraft {
  if (caller !== null) requireReach(caller, draft.sourceId);
  return { ...draft, account, salt: randomBytesPooled(SALT_BYTES) };
}
