import type { AttestationRecord } from '../../../protocol/statement/record.ts';
import type { DecisionDraft } from '../../attestation/decision-drafts.ts';
import type { Sessions } from '../../compliance/sessions.ts';
import type { Recorder } from '../recording/recorder.ts';
import type { RecordingRequest, Submit } from '../recording/recording.ts';

/** What the endpoints that record decisions need. */
export interface DecisionRooms {
  readonly recorder: Recorder;
  readonly sessions: Pick<Sessions, 'within'>;
  readonly now: () => number;
  /** Seals the waiting records at once. */
  readonly sealNow: () => Promise<void>;
}

interface Linked {
  readonly sessionId?: string;
}

/** Records a decision with what it links to: inside its session, where it names one. Throws `ComplianceError`. */
export function submitDecision(
  { sessions }: DecisionRooms,
  { request, caller }: RecordingRequest<Linked>,
  draft: DecisionDraft,
  submit: Submit,
): Promise<AttestationRecord> {
  if (request.sessionId === undefined) return submit(draft);
  return sessions.within(caller.account.id, request.sessionId, (start) =>
    submit({ ...draft, links: { ...draft.links, session: start.id } }),
  );
}
