import type { Static } from 'typebox';
import {
  CORRECTIVE_ACTION_EXAMPLE,
  CorrectiveActionAnswerShape,
  CorrectiveActionRequestShape,
} from '../../../protocol/api/corrective-action.ts';
import type { Asserted } from '../../../protocol/chain/asserted.ts';
import type { Links } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { ACTION_REFERENCES } from '../../../protocol/compliance/references.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { type CorrectiveActions, requireAllowed } from '../../governance/corrective-actions.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import { readTimeOrDay } from '../recording/asserted-times.ts';
import { type Recorder, type RecordingRequest, recordingRoute, type Submit } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface CorrectiveActionServices {
  readonly recorder: Recorder;
  readonly records: Pick<AccountRecords, 'requireIncident'>;
  readonly correctiveActions: Pick<CorrectiveActions, 'stepping'>;
}

type Work = RecordingRequest<Static<typeof CorrectiveActionRequestShape>>;

/** A step whose fields are read, and whose incident is on record. */
interface AskedStep {
  readonly work: Work;
  readonly asserted: Asserted;
  readonly incident: AttestationRecord | undefined;
}

const FIRST_STATUS = 'planned';

/** `POST /v1/corrective-action` (api-rules §4.2, §4.2): a new action, or the next step of one. */
export function correctiveActionRoute(services: CorrectiveActionServices): KeyRoute {
  return recordingRoute(services.recorder, {
    path: '/v1/corrective-action',
    scope: 'governance:write',
    shape: CorrectiveActionRequestShape,
    documentation: {
      summary: 'Records a corrective action, or its next step',
      description:
        'planned, in-progress, implemented, verified, closed; what was implemented or verified may prove ineffective ' +
        'and go back to in-progress; any but a closed one may be cancelled. Each step is a record of its own. The ' +
        'answer’s `status` is that of anchoring, the action’s is `actionStatus`.',
      request: { shape: CorrectiveActionRequestShape, example: CORRECTIVE_ACTION_EXAMPLE.request },
      answer: { shape: CorrectiveActionAnswerShape, example: CORRECTIVE_ACTION_EXAMPLE.answer },
      problems: ['source-mismatch', 'incident-not-found', 'corrective-action-not-found', 'invalid-transition'],
    },
    async record(work, submit) {
      const { incidentId, correctiveActionId } = work.request;
      const asserted = assertedOf(work.request);
      const incident =
        incidentId === undefined
          ? undefined
          : await services.records.requireIncident(work.caller, incidentId, 'incidentId');
      return correctiveActionId === undefined
        ? begin({ work, asserted, incident }, submit)
        : step(services, { work, asserted, incident }, correctiveActionId, submit);
    },
    answer: ({ record: { id, links, claims }, envelope }) => ({
      ...envelope,
      correctiveActionId: objectId('correctiveAction', links.correctiveAction ?? id),
      incidentId: links.incident === undefined ? null : objectId('incident', links.incident),
      actionStatus: claims.actionStatus ?? FIRST_STATUS,
      revision: claims.revision ?? 1,
      ...ACTION_REFERENCES,
    }),
  });
}

async function begin(asked: AskedStep, submit: Submit): Promise<AttestationRecord> {
  const { work, incident } = asked;
  requireAllowed(null, work.request.status ?? FIRST_STATUS);
  return submit(draftOf(asked, 1, incident === undefined ? {} : { incident: incident.id }));
}

function step(
  { correctiveActions }: CorrectiveActionServices,
  asked: AskedStep,
  correctiveActionId: string,
  submit: Submit,
): Promise<AttestationRecord> {
  const { incident } = asked;
  const { request, caller } = asked.work;
  const { sourceId, status: to = FIRST_STATUS } = request;
  return correctiveActions.stepping(caller, { correctiveActionId, sourceId, to }, ({ first, last }) => {
    const kept = first.links.incident;
    const links = { correctiveAction: first.id, ...(kept === undefined ? {} : { incident: kept }) };
    const isOther = incident !== undefined && incident.id !== kept;
    const warnings = isOther ? ['incidentId: differs from that of the first step, which the action keeps'] : [];
    return submit(draftOf(asked, (last.claims.revision ?? 1) + 1, links), { warnings });
  });
}

function draftOf({ work, asserted }: AskedStep, revision: number, links: Links) {
  const { sourceId, status: actionStatus = FIRST_STATUS } = work.request;
  const account = work.caller.account.id;
  return governanceDraft(work, {
    kind: 'corrective_action',
    account,
    sourceId,
    claims: { actionStatus, revision, asserted: Object.keys(asserted).length === 0 ? undefined : asserted },
    links,
  });
}

/** Throws `Problem` where a time is none. */
function assertedOf({ dueAt, suspendedAt, measure }: Work['request']): Asserted {
  return {
    ...(dueAt !== undefined && { dueAt: timestampOf(readTimeOrDay('dueAt', dueAt).first) }),
    ...(suspendedAt !== undefined && { suspendedAt: timestampOf(readTimeOrDay('suspendedAt', suspendedAt).first) }),
    ...(measure !== undefined && { measure }),
  };
}
