import { EXAMPLE_IDS } from '../api/example-ids.ts';
import { recordId } from '../ids.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, link, name, pastTime, subject, text, time, word } from './declaration.ts';

/** `POST /v1/request`: what a person asked for, until when it is to be answered, and what came of it. */
export const REQUEST: Declaration = {
  kind: 'request',
  object: 'request',
  idMember: 'requestId',
  path: '/v1/request',
  listPath: '/v1/requests',
  summary: 'Records what a person asked for, and what came of it',
  description:
    'An explanation, a correction, an appeal, a complaint, an opt-out. The outcome is a new record that `supersedes` the ' +
    'first. `dueAt` is the caller’s word.',
  members: {
    requestType: word(),
    subjectRef: subject(),
    receivedAt: pastTime(),
    decisionId: link(),
    regime: word(),
    dueAt: time(),
    outcome: word(),
    closedAt: pastTime(),
    content: text(),
    response: text(),
    systemRef: name(),
  },
  required: ['requestType', 'subjectRef', 'receivedAt'],
  order: [
    ['closedAt', 'receivedAt'],
    ['dueAt', 'receivedAt'],
  ],
  example: {
    requestType: 'explanation',
    subjectRef: 'applicant-20417',
    receivedAt: '2026-11-20',
    decisionId: EXAMPLE_IDS.decision,
    regime: 'eu-ai-act',
    dueAt: '2026-12-20',
  },
  exampleId: recordId('att_eu_01KAJ8E5F6G7H8J9K0M1N2P3Q4'),
  exampleFacts: {
    dueAt: timestampOf(Date.UTC(2026, 11, 20)),
    receivedAt: timestampOf(Date.UTC(2026, 10, 20)),
    regime: 'eu-ai-act',
    requestType: 'explanation',
    subject: `hmac-sha256:${'7a'.repeat(32)}`,
  },
};
