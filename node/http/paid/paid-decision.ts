import type { PaidTieredAttestRequest } from '../../../protocol/api/paid-tiered-attest.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import { type DecisionDraft, tieredDraft } from '../../verification/attestation/decision-drafts.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import { requireReach } from '../recording/recording.ts';
import type { PaidCall } from '../route.ts';

/** A decision that came with a payment, its form already checked. */
export interface PaidDecision {
  readonly request: PaidTieredAttestRequest;
  /** What is signed as its payload, and those of its members that no schema names. */
  readonly body: JsonObject;
  readonly additional: ReadonlyMap<string, JsonValue>;
}

/** A draft of nobody yet: whose it becomes is known once the payment holds. */
export type UnownedDraft = Omit<DecisionDraft, 'account'>;
/** A draft whose salt the payer is told, so that he can recompute its commitments. */
export type SaltedDraft = DecisionDraft & { readonly salt: Uint8Array };

/** The draft of a paid decision. The agent that it names is the payer's word. */
export function paidDecisionDraft({ request, body, additional }: PaidDecision): UnownedDraft {
  const { agentId, sourceId = agentId } = request;
  const { account: _none, ...draft } = tieredDraft('', { request: { ...request, sourceId }, body, additional });
  return { ...draft, claims: { ...draft.claims, agentId } };
}

/** Throws `Problem` 403 where an API key came along that is bound to other sources. */
export function ownedDraft(draft: UnownedDraft, { account, caller }: PaidCall): SaltedDraft {
  if (caller !== null) requireReach(caller, draft.sourceId);
  return { ...draft, account, salt: randomBytesPooled(SALT_BYTES) };
}
