import {
  SESSION_START_EXAMPLE,
  SessionStartAnswerShape,
  SessionStartRequestShape,
} from '../../../protocol/api/session-start.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { Recorder } from '../recording/recorder.ts';
import { recordingRoute } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

/** `POST /v1/session/start` (SPEC §2.4, DOMAIN §3.2): a period of use begins, EU AI Act Art. 12(3)(a). */
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
