import { EXAMPLE_IDS } from '../api/example-ids.ts';
import { recordId } from '../ids.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, link, name, pastTime, subject, text, time, word } from './declaration.ts';

/** `POST /v1/notice`: that a person was told something, about a decision or by itself. */
export const NOTICE: Declaration = {
  kind: 'notice',
  object: 'notice',
  idMember: 'noticeId',
  path: '/v1/notice',
  listPath: '/v1/notices',
  summary: 'Records that a person was given a notice',
  description:
    'Names the decision that it is about, or the person, or both. The person is signed under a pseudonym; the name stays ' +
    'in the payload, where an erasure by `subjectRef` finds it.',
  members: {
    noticeType: word(),
    givenAt: pastTime(),
    decisionId: link(),
    subjectRef: subject(),
    regime: word(),
    channel: text(),
    content: text(),
    dueAt: time(),
    systemRef: name(),
  },
  required: ['noticeType', 'givenAt'],
  oneOf: ['decisionId', 'subjectRef'],
  example: {
    noticeType: 'adverse-action',
    givenAt: '2026-11-21T09:00:00Z',
    decisionId: EXAMPLE_IDS.decision,
    subjectRef: 'applicant-20417',
    regime: 'ecoa-reg-b',
    channel: 'letter',
  },
  exampleId: recordId('att_eu_01KAJ8D4E5F6G7H8J9K0M1N2P3'),
  exampleFacts: {
    givenAt: timestampOf(Date.UTC(2026, 10, 21, 9)),
    noticeType: 'adverse-action',
    regime: 'ecoa-reg-b',
    subject: `hmac-sha256:${'7a'.repeat(32)}`,
  },
};
