import Type, { type Static } from 'typebox';
import { Base64urlShape, RecordIdShape, TimestampShape } from '../shapes.ts';
import { AgentIdShape } from './agent-fields.ts';
import { TIERED_ATTEST_EXAMPLE } from './attest-answer.ts';
import { StatusShape, WarningsShape } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { CLAIM_MEMBERS } from './decision-fields.ts';
import { DataShape, SourceIdShape } from './fields.ts';
import { ATTESTATION_EXAMPLE, PaidShape, paidTailExample } from './paid-answer.ts';

/** Base64url of 32 bytes: the salt of a record's commitments. With it, whoever has the payload can recompute them. */
export const SaltShape = Base64urlShape;
export const EXAMPLE_SALT = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA';

/** What a paid decision may say, by itself or in a batch: the claims of `POST /v1/tiered-attest`. */
export const PAID_DECISION_MEMBERS = {
  data: DataShape,
  ...CLAIM_MEMBERS,
  /** The AI system. Default: the agent's id. */
  sourceId: Type.Optional(SourceIdShape),
};

/** `POST /v1/x402/tiered-attest`: one decision as a leaf. */
export const PaidTieredAttestRequestShape = Type.Object({ agentId: AgentIdShape, ...PAID_DECISION_MEMBERS });
export type PaidTieredAttestRequest = Static<typeof PaidTieredAttestRequestShape>;

export const PaidTieredAttestAnswerShape = PaidShape({
  agentId: Type.String(),
  /** Whether the record bears the signature of a registered agent, beside the node's. */
  agentSigned: Type.Boolean(),
  attestationId: RecordIdShape,
  tier: Type.Integer(),
  status: StatusShape,
  payloadKey: Type.String(),
  salt: SaltShape,
  anchorExpectedBy: TimestampShape,
  warnings: WarningsShape,
});

export const PAID_TIERED_ATTEST_EXAMPLE = {
  request: { agentId: EXAMPLE_IDS.agent, ...TIERED_ATTEST_EXAMPLE.request },
  answer: {
    success: true,
    agentId: EXAMPLE_IDS.agent,
    agentSigned: false,
    attestationId: EXAMPLE_IDS.decision,
    tier: 1,
    status: 'buffered',
    payloadKey: EXAMPLE_IDS.decision.replace('att', 'pk'),
    salt: EXAMPLE_SALT,
    anchorExpectedBy: ATTESTATION_EXAMPLE.anchorExpectedBy,
    warnings: [],
    ...paidTailExample('0.005'),
  },
};
