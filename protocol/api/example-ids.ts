import { objectId } from '../object-ids.ts';
import { recordId } from '../ids.ts';

/** Ids in the examples of the API's documentation: well-formed, and of nothing. */
const DECISION = recordId('att_eu_01KAJ5M0E8Q2V7XN4T9RCB6WDZ');
const SESSION_START = recordId('att_eu_01KAJ5JZ4T8N5G0Y2H7QKP3M6C');
const INCIDENT = recordId('att_eu_01KAJ6B1R0D4S9W7XV5FN8J2EA');
const CORRECTIVE_ACTION = recordId('att_eu_01KAJ6F8M3K6Z1T0CQ9YB4GHVN');
const LOCK = recordId('att_eu_01KAJ6QX7N2P5E8R0MJ3DWTS4K');
const OVERRIDE = recordId('att_eu_01KAJ5TR6W1C9M4Z0XHQ8NVB3D');
const RISK_ASSESSMENT = recordId('att_eu_01KAJ5W9H2E7J3Y6DCQ0XTS5NA');
const IMPACT_ASSESSMENT = recordId('att_eu_01KAJ5XVB8R4K1G7MZ2WHN9C6F');
const ERASURE = recordId('att_eu_01KAJ7A3D5F0Q8T2VYX6BRM1KE');
const ERASURE_REFUSAL = recordId('att_eu_01KAJ7C4E6G1R9V3WYZ7CSN2MF');
const REGISTRATION = recordId('att_eu_01KAJ4Z9S1B8H6C3GQ0VEXR7TN');
const PACK_RECORD = recordId('att_eu_01KAJ7F2H8J3V6X0W1BM9QTR5D');
const ACCOUNT_STATEMENT = recordId('att_eu_01KAJ4V6M3P8X1T5R9QCYDWH2Z');

export const EXAMPLE_IDS = {
  account: 'acc_eu_k3v9x2m7p1q8r4t6',
  accountStatement: ACCOUNT_STATEMENT,
  decision: DECISION,
  sessionStart: SESSION_START,
  session: objectId('session', SESSION_START),
  incidentRecord: INCIDENT,
  incident: objectId('incident', INCIDENT),
  correctiveActionRecord: CORRECTIVE_ACTION,
  correctiveAction: objectId('correctiveAction', CORRECTIVE_ACTION),
  overrideRecord: OVERRIDE,
  override: objectId('override', OVERRIDE),
  riskAssessmentRecord: RISK_ASSESSMENT,
  riskAssessment: objectId('riskAssessment', RISK_ASSESSMENT),
  impactAssessmentRecord: IMPACT_ASSESSMENT,
  impactAssessment: objectId('impactAssessment', IMPACT_ASSESSMENT),
  erasureRecord: ERASURE,
  erasure: objectId('erasure', ERASURE),
  erasureRefusalRecord: ERASURE_REFUSAL,
  lockRecord: LOCK,
  lock: objectId('lock', LOCK),
  registrationRecord: REGISTRATION,
  registration: objectId('registration', REGISTRATION),
  agent: 'claims-triage-agent',
  source: 'loan-model',
  /** An entry of the register of systems, by its owner's name. */
  systemRef: 'credit-scoring',
  key: 'key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB',
  pack: 'pack_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MD',
  packRecord: PACK_RECORD,
  person: 'per_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MH',
  secondFactor: 'sfa_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MK',
  policy: 'pol_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MJ',
  signIn: 'sin_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9ME',
  webhook: 'whk_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MF',
  delivery: 'whd_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MG',
  share: 'shr_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MC',
  shareToken: 'zP4Xn8Qb1YtK6vJmWc3RsL0hGdU7fEaTi9oB2xNq5wM',
  shareAddress: 'https://eu.example/v1/shared/zP4Xn8Qb1YtK6vJmWc3RsL0hGdU7fEaTi9oB2xNq5wM',
  calendarToken: 'h3Kp9Vd2XqW7sNfT4mZyB8cRjL6aGuE1oIiQ0tHxM5w',
  calendarAddress: 'https://eu.example/v1/calendar/h3Kp9Vd2XqW7sNfT4mZyB8cRjL6aGuE1oIiQ0tHxM5w/due.ics',
  /** Token of a link that replaces lost keys. */
  link: 'q7Jm2Xc0VtN9r4BzKfYw1LhE6sUdGpQ8aTiR3oC5ekA',
} as const;

export const EXAMPLE_SUBMITTED_AT = '2026-11-21T09:30:00.000Z';
export const EXAMPLE_TOPIC = '0.0.5005';
export const EXAMPLE_HASH = 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
/** Consensus time in both of its forms. */
export const EXAMPLE_CONSENSUS = { timestamp: '1795253411.204817003', time: '2026-11-21T09:30:11.204Z' } as const;
