import { EXAMPLE_IDS } from '../api/example-ids.ts';
import { recordId } from '../ids.ts';
import { RECIPIENTS, REPORT_TYPES } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, link, name, oneOf, pastTime, text, word } from './declaration.ts';

/** `POST /v1/notification`: that an authority, a provider or somebody else was told, when it was sent and received. */
export const NOTIFICATION: Declaration = {
  kind: 'notification',
  object: 'notification',
  idMember: 'notificationId',
  path: '/v1/notification',
  listPath: '/v1/notifications',
  summary: 'Records that an authority, a provider or somebody else was told',
  description:
    'With an `incidentId` it moves the clocks of that incident: `notified-initial` once every authority concerned has a ' +
    'report, `notified` once each has a final one. `sentAt` and `receivedAt` are the caller’s word and stand beside the ' +
    'time of the record.',
  members: {
    to: oneOf(RECIPIENTS),
    reportType: oneOf(REPORT_TYPES),
    sentAt: pastTime(),
    receivedAt: pastTime(),
    incidentId: link(),
    regime: word(),
    authority: name(),
    memberState: word(),
    reference: text(),
    content: text(),
    systemRef: name(),
  },
  required: ['to', 'reportType', 'sentAt'],
  order: [['receivedAt', 'sentAt']],
  example: {
    to: 'authority',
    reportType: 'initial',
    sentAt: '2026-11-21T08:00:00Z',
    incidentId: EXAMPLE_IDS.incident,
    regime: 'eu-ai-act',
    authority: 'Bundesnetzagentur',
    memberState: 'DE',
    reference: '2026-004417',
  },
  exampleId: recordId('att_eu_01KAJ8C3D4E5F6G7H8J9K0M1N2'),
  exampleFacts: {
    authority: 'Bundesnetzagentur',
    memberState: 'DE',
    regime: 'eu-ai-act',
    reportType: 'initial',
    sentAt: timestampOf(Date.UTC(2026, 10, 21, 8)),
    to: 'authority',
  },
};
