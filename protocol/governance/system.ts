import { recordId } from '../ids.ts';
import { ROLES, SYSTEM_STATUSES } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, name, names, oneOf, person, text, time, word } from './declaration.ts';

const MODEL_TYPES = ['generative', 'predictive', 'rule-based', 'agentic', 'other'];
const RISK_CLASSES = ['prohibited', 'high-risk', 'limited-risk', 'minimal-risk', 'gpai', 'gpai-systemic-risk'];

/** `POST /v1/system`: an entry of the register of AI systems. A further one of the same `systemRef` is a new revision. */
export const SYSTEM: Declaration = {
  kind: 'system',
  object: 'system',
  idMember: 'systemId',
  path: '/v1/system',
  listPath: '/v1/systems',
  summary: 'Records an AI system, or a new revision of its entry',
  description:
    'The register: role, class, purpose, owner, market date, EU database id, and the sources whose records are the ' +
    'system’s. The newest entry of a `systemRef` supersedes the ones before. Whether the class is right is not judged.',
  members: {
    systemRef: name(),
    role: oneOf(ROLES),
    intendedPurpose: text(),
    description: text(),
    riskClass: word(RISK_CLASSES),
    annexPoint: names(),
    modelType: word(MODEL_TYPES),
    systemStatus: oneOf(SYSTEM_STATUSES),
    owner: person(),
    provider: text(),
    placedOnMarketAt: time(),
    putIntoServiceAt: time(),
    substantiallyModifiedAt: time(),
    reviewDueAt: time(),
    euDatabaseId: name(),
    sources: names(),
  },
  required: ['systemRef', 'role', 'intendedPurpose'],
  example: {
    sourceId: 'governance',
    systemRef: 'credit-scoring',
    role: 'deployer',
    intendedPurpose: 'Scores applications for consumer credit; a person decides on refusals.',
    riskClass: 'high-risk',
    annexPoint: ['III(5)(b)'],
    modelType: 'predictive',
    systemStatus: 'in-service',
    owner: 'head-of-retail-risk',
    putIntoServiceAt: '2026-03-01',
    sources: ['loan-model'],
  },
  exampleId: recordId('att_eu_01KAJ8A1B2C3D4E5F6G7H8J9K0'),
  exampleFacts: {
    annexPoint: ['III(5)(b)'],
    modelType: 'predictive',
    owner: `hmac-sha256:${'5d'.repeat(32)}`,
    putIntoServiceAt: timestampOf(Date.UTC(2026, 2, 1)),
    riskClass: 'high-risk',
    role: 'deployer',
    sources: ['loan-model'],
    systemRef: 'credit-scoring',
    systemStatus: 'in-service',
  },
};
