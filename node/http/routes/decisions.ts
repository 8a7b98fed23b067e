import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { AgentSigning } from '../../governance/agents/agent-signing.ts';
import { addressed, type DecisionSubject, type DecisionSubjectServices } from '../../governance/decision-subject.ts';
import type { Sessions } from '../../governance/sessions.ts';
import type { Draft } from '../../intake/draft.ts';
import type { DecisionDraft } from '../../verification/attestation/decision-drafts.ts';
import { fieldProblem, type ProblemCode } from '../problem.ts';
import type { Recorder, RecordingRequest, Submit } from '../recording/recording.ts';

/** What the endpoints that record decisions need. */
export interface DecisionServices extends DecisionSubjectServices {
  readonly recorder: Recorder;
  readonly sessions: Pick<Sessions, 'within'>;
  readonly agents: Pick<AgentSigning, 'record' | 'signing'>;
  readonly now: () => number;
  /** Seals the waiting records at once. */
  readonly sealNow: () => Promise<void>;
}

/** What a decision is refused with because of what it links to. */
export const LINK_PROBLEMS = [
  'session-not-found',
  'session-already-ended',
  'incident-not-found',
  'attestation-not-found',
  'agent-not-found',
  'agent-inactive',
  'agent-key-unavailable',
  'agent-signature-invalid',
] as const satisfies readonly ProblemCode[];

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
