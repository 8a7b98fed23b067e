import Type from 'typebox';
import { TextShape } from '../api/fields.ts';
import { recordId } from '../ids.ts';
import { timestampOf } from '../time.ts';
import {
  claim,
  type Declaration,
  flag,
  link,
  name,
  pastTime,
  payload,
  person,
  text,
  time,
  word,
} from './declaration.ts';

const MAX_METRICS = 200;
const MAX_METRIC_TEXT = 128;

/** What was measured: by group where it differs between groups of people. */
const MetricShape = Type.Object(
  {
    name: TextShape(1, MAX_METRIC_TEXT),
    value: Type.Number(),
    threshold: Type.Optional(Type.Number()),
    group: Type.Optional(TextShape(1, MAX_METRIC_TEXT)),
  },
  { title: 'Metric', additionalProperties: false },
);

/** `POST /v1/evaluation`: a test, a validation, a bias audit, a round of monitoring. */
export const EVALUATION: Declaration = {
  kind: 'evaluation',
  object: 'evaluation',
  idMember: 'evaluationId',
  path: '/v1/evaluation',
  listPath: '/v1/evaluations',
  summary: 'Records an evaluation: a test, a validation, a bias audit, a round of monitoring',
  description:
    'What was evaluated and on which data, by whom and how independently, with which outcome and until when it holds. ' +
    'Metrics stay in the payload; that they are given is signed.',
  members: {
    evalType: word(),
    performedAt: pastTime(),
    outcome: word(['pass', 'fail', 'pass-with-findings', 'inconclusive']),
    metrics: payload(Type.Array(MetricShape, { minItems: 1, maxItems: MAX_METRICS })),
    datasetRef: name(),
    modelId: claim('modelId'),
    modelVersion: claim('modelVersion'),
    performedBy: person(),
    independent: flag(),
    validUntil: time(),
    findings: text(),
    limitations: text(),
    decisionId: link(),
    systemRef: name(),
  },
  required: ['evalType', 'performedAt', 'outcome'],
  order: [['validUntil', 'performedAt']],
  example: {
    evalType: 'bias-audit',
    performedAt: '2026-10-15',
    outcome: 'pass-with-findings',
    metrics: [{ name: 'impact-ratio', value: 0.91, threshold: 0.8, group: 'women' }],
    datasetRef: 'applications-2026-q3',
    performedBy: 'auditor-17',
    independent: true,
    validUntil: '2027-10-14',
    systemRef: 'credit-scoring',
  },
  exampleId: recordId('att_eu_01KAJ8F6G7H8J9K0M1N2P3Q4R5'),
  exampleFacts: {
    datasetRef: 'applications-2026-q3',
    evalType: 'bias-audit',
    independent: true,
    outcome: 'pass-with-findings',
    performedAt: timestampOf(Date.UTC(2026, 9, 15)),
    performedBy: `hmac-sha256:${'3c'.repeat(32)}`,
    systemRef: 'credit-scoring',
    validUntil: timestampOf(Date.UTC(2027, 9, 14)),
  },
};
