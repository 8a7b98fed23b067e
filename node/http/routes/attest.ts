import {
  ATTEST_EXAMPLE,
  AttestAnswerShape,
  TIERED_ATTEST_EXAMPLE,
  TieredAttestAnswerShape,
} from '../../../protocol/api/attest-answer.ts';
import { AttestRequestShape } from '../../../protocol/api/attest.ts';
import { TieredAttestRequestShape } from '../../../protocol/api/tiered-attest.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Account } from '../../accounts/account.ts';
import { anchorExpectedBy, LEAF_TIER, payloadHandle } from '../../verification/attestation/attestation-answer.ts';
import { attestDraft, type DecisionDraft, tieredDraft } from '../../verification/attestation/decision-drafts.ts';
import { LINK_PROBLEMS } from '../problem-codes.ts';
import { fieldError, fieldProblem, Problem } from '../problem.ts';
import { readTime, requirePast } from '../recording/asserted-times.ts';
import { occurredAtOf, requireOneClaim } from '../recording/decision-claims.ts';
import { type Recorder, type RecordingRequest, recordingRoute, type Submit } from '../recording/recording.ts';
import { requireSmallData } from '../recording/sizes.ts';
import { TIERED_CODES, tieredWarnings } from '../recording/tiered-warnings.ts';
import type { KeyRoute } from '../route.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { AgentSigning } from '../../governance/agents/agent-signing.ts';
import { addressed, type DecisionSubject, type DecisionSubjectServices } from '../../governance/decision-subject.ts';
import type { Sessions } from '../../governance/sessions.ts';
import type { Draft } from '../../intake/draft.ts';

/** What the endpoints that record decisions need. */
export interface DecisionServices extends DecisionSubjectServices {
  readonly recorder: Recorder;
  readonly sessions: Pick<Sessions, 'within'>;
  readonly agents: Pick<AgentSigning, 'record' | 'signing'>;
  readonly now: () => number;
  /** Seals the waiting records at once. */
  readonly sealNow: () => Promise<void>;
}

interface Linked extends DecisionSubject {
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly agentSalt?: string;
  readonly agentSignature?: string;
}

/**
 * Records a decision with what it links to: signed by its agent, inside its session and beside its incident, where it
 * names them. Throws `ComplianceError`.
 */
export async function submitDecision(
  services: DecisionServices,
  { request, caller }: RecordingRequest<Linked>,
  bare: DecisionDraft,
  submit: Submit,
): Promise<AttestationRecord> {
  const { draft, warnings } = await addressed(services, caller, request, bare);
  const keep = warnings.length === 0 ? {} : { warnings: [...warnings] };
  const { agentId, agentSalt: salt, agentSignature: signature, sessionId } = request;
  const record = (linked: Draft) => withinSession(services, caller, sessionId, linked, (last) => submit(last, keep));
  requireWholeAgent(request);
  return agentId === undefined ? record(draft) : services.agents.record({ agentId, salt, signature }, draft, record);
}

/** Throws `Problem` 400 where something of an agent comes without its id. */
export function requireWholeAgent({ agentId, agentSalt, agentSignature }: Omit<Linked, 'data'>): void {
  if (agentId !== undefined || (agentSalt === undefined && agentSignature === undefined)) return;
  throw fieldProblem('agentId', 'required', 'is required with agentSalt and agentSignature', 'missing-field');
}

function withinSession(
  { sessions }: DecisionServices,
  caller: Caller,
  sessionId: string | undefined,
  draft: Draft,
  record: (draft: Draft) => Promise<AttestationRecord>,
): Promise<AttestationRecord> {
  if (sessionId === undefined) return record(draft);
  return sessions.within(caller, sessionId, (start) =>
    record({ ...draft, links: { ...draft.links, session: start.id } }),
  );
}

/** `POST /v1/attest` (api-rules §2.1, §4.2): one decision, answered once it is signed and on the disk. */
export function attestRoute(services: DecisionServices): KeyRoute {
  return recordingRoute(services.recorder, {
    path: '/v1/attest',
    scope: 'attest:write',
    shape: AttestRequestShape,
    documentation: {
      summary: 'Records one decision',
      description:
        'Signed and on the disk when it is answered; anchored with the next batch. The same body sent twice by one ' +
        'account is a duplicate: put a decision id or a time into `data`. What `model_ref` and `complianceMeta` say ' +
        'may stand at the top as well, and then has to say the same. `anchorMode: direct` (Enterprise) seals the open ' +
        'batch at once, so that its message does not wait for others.',
      request: { shape: AttestRequestShape, example: ATTEST_EXAMPLE.request },
      answer: { shape: AttestAnswerShape, example: ATTEST_EXAMPLE.answer },
      problems: [
        'model-binding-invalid',
        'time-in-future',
        'tier-forbidden',
        ...LINK_PROBLEMS,
        'duplicate-attestation',
        'endpoint-limit-exceeded',
      ],
    },
    codes: TIERED_CODES,
    async record(work, submit) {
      const { request, caller } = work;
      const { clientTimestamp } = request;
      requireOneClaim(request);
      const occurredAt = occurredAtOf(request, services.now);
      if (clientTimestamp !== undefined) {
        requirePast('clientTimestamp', readTime('clientTimestamp', clientTimestamp), services.now());
      }
      checkAnchorMode(request.anchorMode, caller.account);
      const draft = attestDraft(caller.account.id, work, occurredAt);
      requireSmallData(draft.decision.data);
      const record = await submitDecision(services, work, draft, submit);
      if (request.anchorMode === 'direct') void services.sealNow();
      return record;
    },
    answer: ({ record, envelope, caller }) => ({
      ...envelope,
      inputHash: record.claims.inputHash ?? null,
      outputHash: record.claims.outputHash ?? null,
      dataHash: record.claims.dataHash ?? null,
      sourceSeq: record.sourceSeq,
      anchorExpectedBy: timestampOf(anchorExpectedBy(record, caller.account.tier)),
    }),
    warnings: tieredWarnings,
  });
}

function checkAnchorMode(mode: 'batch' | 'direct' | undefined, account: Account): void {
  if (mode !== 'direct' || account.tier === 'enterprise' || account.tier === 'unmetered') return;
  throw new Problem('tier-forbidden', 'anchorMode direct is part of the Enterprise tier', {
    errors: [fieldError(['anchorMode'], 'tier', 'is part of the Enterprise tier')],
  });
}

/** `POST /v1/tiered-attest` (api-rules §2.2, §4.2): one decision as a leaf, answered once signed and on the disk. */
export function tieredAttestRoute(services: DecisionServices): KeyRoute {
  return recordingRoute(services.recorder, {
    path: '/v1/tiered-attest',
    scope: 'attest:write',
    shape: TieredAttestRequestShape,
    documentation: {
      summary: 'Records one decision as a leaf',
      description: 'For volume, on every tier. Has no rule against duplicates: use `Idempotency-Key` to repeat safely.',
      request: { shape: TieredAttestRequestShape, example: TIERED_ATTEST_EXAMPLE.request },
      answer: { shape: TieredAttestAnswerShape, example: TIERED_ATTEST_EXAMPLE.answer },
      problems: ['model-binding-invalid', 'time-in-future', ...LINK_PROBLEMS],
    },
    codes: TIERED_CODES,
    async record(work, submit) {
      const draft = tieredDraft(work.caller.account.id, work, occurredAtOf(work.request, services.now));
      requireSmallData(draft.decision.data);
      return submitDecision(services, work, draft, submit);
    },
    answer: ({ record, caller, envelope: { success, attestationId, status, submittedAt, verifyUrl, warnings } }) => ({
      success,
      attestationId,
      tier: LEAF_TIER,
      status,
      payloadKey: payloadHandle(record.id),
      submittedAt,
      payloadHash: record.payloadHash,
      verifyUrl,
      warnings,
      anchorExpectedBy: timestampOf(anchorExpectedBy(record, caller.account.tier)),
    }),
    warnings: tieredWarnings,
  });
}
