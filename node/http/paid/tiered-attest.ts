import { currentKey } from '../../../protocol/agents/agent.ts';
import {
  PAID_TIERED_ATTEST_EXAMPLE,
  PaidTieredAttestAnswerShape,
  PaidTieredAttestRequestShape,
} from '../../../protocol/api/paid-tiered-attest.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import type { AgentSigning } from '../../governance/agents/agent-signing.ts';
import type { Agents } from '../../governance/agents/agents.ts';
import type { PaidDraft } from '../../intake/draft.ts';
import type { Blank } from '../../payments/answer-draft.ts';
import { LEAF_TIER, payloadHandle } from '../../verification/attestation/attestation-answer.ts';
import { occurredAtOf } from '../recording/decision-claims.ts';
import { additionalWarnings } from '../recording/recording.ts';
import { requireSmallAdditional, requireSmallData } from '../recording/sizes.ts';
import { tieredWarnings } from '../recording/tiered-warnings.ts';
import type { PaidCall, PaidRoute } from '../route.ts';
import { unknownMembers, validator } from '../validation.ts';
import {
  ATTESTATION_BLANKS,
  attestationTail,
  ownedDraft,
  paidDecisionDraft,
  type SaltedDraft,
  type VerifyUrl,
} from './attested-summary.ts';

export interface PaidTieredAttestServices {
  readonly verifyUrl: VerifyUrl;
  readonly agents: Pick<Agents, 'find'>;
  readonly agentSigning: Pick<AgentSigning, 'record'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Of the answer, what is known once the record is made. */
const BLANKS: readonly Blank[] = [...ATTESTATION_BLANKS, { at: ['anchorExpectedBy'], is: 'anchorExpectedBy' }];

const validate = validator(PaidTieredAttestRequestShape, { model_ref: 'model-binding-invalid' });
const KNOWN: ReadonlySet<string> = new Set(Object.keys(PaidTieredAttestRequestShape.properties));

/** `POST /v1/x402/tiered-attest` (api-rules §4.1): one decision as a leaf, in the name of anyone who pays. */
export function paidTieredAttestRoute(services: PaidTieredAttestServices): PaidRoute {
  return {
    method: 'POST',
    path: '/v1/x402/tiered-attest',
    access: 'paid',
    service: 'tiered-attest',
    documentation: {
      summary: 'Records one decision as a leaf, for a payment',
      description:
        'The form of `POST /v1/tiered-attest`, for callers without an account. `agentId` is the payer’s word: nobody ' +
        'has shown to be that agent, so no agent signs and `agentSigned` is false, and the record is kept apart from ' +
        'the history of an agent registered under that id. Where a valid API key comes along, the record is its ' +
        'account’s; an active agent of that account whose key the node holds then signs as well. `salt` is that of ' +
        'the record’s commitments: with it, whoever has the request can recompute `payloadHash`. `agentId` stays ' +
        'readable when the payload is erased, so it should name no person.',
      request: { shape: PaidTieredAttestRequestShape, example: PAID_TIERED_ATTEST_EXAMPLE.request },
      answer: { shape: PaidTieredAttestAnswerShape, example: PAID_TIERED_ATTEST_EXAMPLE.answer },
      problems: [
        'model-binding-invalid',
        'time-in-future',
        'scope-forbidden',
        'agent-inactive',
        'agent-key-unavailable',
        'queue-full',
      ],
    },
    prepare(_call, body) {
      const request = validate(body);
      const additional = unknownMembers(body, KNOWN);
      requireSmallAdditional(additional);
      const draft = paidDecisionDraft({
        request,
        body,
        additional,
        occurredAt: occurredAtOf(request, services.now),
      });
      requireSmallData(draft.decision.data);
      const warnings = [...additionalWarnings(additional), ...tieredWarnings(request)];
      return async (paid) => {
        const { record, salt } = await prepareRecord(services, paid, request.agentId, ownedDraft(draft, paid));
        const attestation = attestationTail(record, services.verifyUrl);
        return {
          body: {
            success: true,
            agentId: request.agentId,
            agentSigned: record.claims.agentSignature !== undefined,
            attestationId: record.id,
            tier: LEAF_TIER,
            status: attestation.status,
            payloadKey: payloadHandle(record.id),
            salt,
            anchorExpectedBy: null,
            warnings,
            attestation,
          },
          blanks: BLANKS,
        };
      };
    },
  };
}

/** Signed by its agent where the payer's own account holds it, by its key that is in force now. */
async function prepareRecord(
  { agents, agentSigning }: PaidTieredAttestServices,
  { recording, caller }: PaidCall,
  agentId: string,
  draft: SaltedDraft,
) {
  const prepare = async (last: PaidDraft) => {
    const salt = encodeBase64url(last.salt ?? draft.salt);
    return { record: await recording.prepareOne(last), salt };
  };
  if (caller === null) return prepare(draft);
  const agent = await agents.find(agentId);
  const isHeldFor = agent?.account === caller.account.id && agent.custody === 'service';
  if (agent === undefined || !isHeldFor || currentKey(agent) === undefined) return prepare(draft);
  return agentSigning.record({ agentId, salt: undefined, signature: undefined }, draft, prepare);
}
