import { recordId } from '../ids.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, flag, name, names, pastTime, person, text, time, word } from './declaration.ts';

/** `POST /v1/assignment`: who oversees, with which competence and authority, from when to when. */
export const ASSIGNMENT: Declaration = {
  kind: 'assignment',
  object: 'assignment',
  idMember: 'assignmentId',
  path: '/v1/assignment',
  listPath: '/v1/assignments',
  summary: 'Records who is assigned to oversee systems, with which competence and authority',
  description:
    'The person is signed under a pseudonym. `mayStop`: whether they may stop the system. Whether they are competent is ' +
    'the caller’s word.',
  members: {
    person: person(),
    capacity: word(),
    from: time(),
    to: time({ as: 'until' }),
    competence: text(),
    trainedAt: pastTime(),
    mayStop: flag(),
    systemRef: name(),
    systems: names(),
  },
  required: ['person', 'capacity', 'from'],
  order: [['to', 'from']],
  example: {
    person: 'staff-0733',
    capacity: 'human-oversight',
    from: '2026-09-01',
    competence: 'Credit analyst, course on automation bias of August 2026',
    trainedAt: '2026-08-20',
    mayStop: true,
    systems: ['credit-scoring'],
  },
  exampleId: recordId('att_eu_01KAJ8G7H8J9K0M1N2P3Q4R5S6'),
  exampleFacts: {
    capacity: 'human-oversight',
    from: timestampOf(Date.UTC(2026, 8, 1)),
    mayStop: true,
    person: `hmac-sha256:${'3c'.repeat(32)}`,
    systems: ['credit-scoring'],
    trainedAt: timestampOf(Date.UTC(2026, 7, 20)),
  },
};
