import {
  SESSION_END_EXAMPLE,
  SessionEndAnswerShape,
  SessionEndRequestShape,
} from '../../../protocol/api/session-end.ts';
import {
  SESSION_START_EXAMPLE,
  SessionStartAnswerShape,
  SessionStartRequestShape,
} from '../../../protocol/api/session-start.ts';
import { SESSION_REFERENCES } from '../../../protocol/compliance/references.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { Sessions } from '../../governance/sessions.ts';
import { type Recorder, recordingRoute } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface SessionEndServices {
  readonly recorder: Recorder;
  readonly sessions: Pick<Sessions, 'ending'>;
}

/** `POST /v1/session/end` (api-rules §2.4, §4.2). A count that differs from ours is recorded, not refused. */
export function sessionEndRoute({ recorder, sessions }: SessionEndServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/session/end',
    scope: 'attest:write',
    shape: SessionEndRequestShape,
    documentation: {
      summary: 'Ends a session',
      description:
        'On the node where it began, once. `recordedDecisionCount` counts the decisions recorded within it; a ' +
        '`decisionCount` that differs is signed beside it.',
      request: { shape: SessionEndRequestShape, example: SESSION_END_EXAMPLE.request },
      answer: { shape: SessionEndAnswerShape, example: SESSION_END_EXAMPLE.answer },
      problems: ['source-mismatch', 'session-not-found', 'session-already-ended'],
    },
    record(work, submit) {
      const { request, caller } = work;
      const account = caller.account.id;
      const { sourceId, decisionCount } = request;
      return sessions.ending(caller, request, (start, recordedDecisionCount) => {
        const claims = { decisionCount, recordedDecisionCount };
        const links = { session: start.id };
        const draft = governanceDraft(work, { kind: 'session_end', account, sourceId, claims, links });
        return submit(draft, { startTime: start.submittedAt });
      });
    },
    answer({ request, record, kept, envelope }) {
      const { decisionCount = null, recordedDecisionCount = 0 } = record.claims;
      const startTime = String(kept.startTime);
      return {
        ...envelope,
        sessionId: request.sessionId,
        startTime,
        endTime: record.submittedAt,
        durationSeconds: (Date.parse(record.submittedAt) - Date.parse(startTime)) / 1000,
        outcome: request.outcome ?? null,
        decisionCount,
        recordedDecisionCount,
        countMatches: decisionCount === null ? null : decisionCount === recordedDecisionCount,
        ...SESSION_REFERENCES,
      };
    },
  });
}

/** `POST /v1/session/start` (api-rules §2.4, §4.2): a period of use begins, EU AI Act Art. 12(3)(a). */
export function sessionStartRoute({ recorder }: { readonly recorder: Recorder }): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/session/start',
    scope: 'attest:write',
    shape: SessionStartRequestShape,
    documentation: {
      summary: 'Begins a session',
      description: 'A period of use of one source. Decisions that name its `sessionId` are recorded within it.',
      request: { shape: SessionStartRequestShape, example: SESSION_START_EXAMPLE.request },
      answer: { shape: SessionStartAnswerShape, example: SESSION_START_EXAMPLE.answer },
      problems: [],
    },
    record(work, submit) {
      const { sourceId, environment } = work.request;
      const account = work.caller.account.id;
      return submit(governanceDraft(work, { kind: 'session_start', account, sourceId, claims: { environment } }));
    },
    answer: ({ record, envelope }) => ({
      ...envelope,
      sessionId: objectId('session', record.id),
      startTime: record.submittedAt,
    }),
  });
}
