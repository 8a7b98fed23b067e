/**
 * Words that the rows of the EU AI Act look for in signed facts. Another word is signed all the same and evidences none
 * of them.
 */

/** Types of documents: `docType`. */
export const EU_DOC_TYPES = [
  'accessibility-statement',
  'ai-interaction-disclosure',
  'ai-literacy-measures',
  'authorised-representative-mandate',
  'bias-data-safeguards',
  'biometric-use-notice',
  'ce-marking-record',
  'change-record',
  'copyright-policy',
  'data-protection-impact-assessment',
  'eu-declaration-of-conformity',
  'gpai-authorised-representative-mandate',
  'gpai-downstream-information',
  'gpai-technical-documentation',
  'human-oversight-measures',
  'incident-reporting-procedure',
  'instructions-for-use',
  'logging-specification',
  'not-high-risk-assessment',
  'output-marking-method',
  'post-market-monitoring-plan',
  'post-market-monitoring-report',
  'provider-cooperation-agreement',
  'quality-management-system',
  'risk-management-system',
  'synthetic-content-disclosure',
  'technical-documentation',
  'training-content-summary',
  'use-procedure',
] as const;

/** Types of evaluations: `evalType`. */
export const EU_EVAL_TYPES = [
  'accuracy',
  'adversarial-testing',
  'cybersecurity',
  'distributor-verification',
  'importer-verification',
  'input-data-check',
  'model-evaluation',
  'monitoring',
  'output-marking-test',
  'oversight-test',
  'post-market-monitoring',
  'prohibited-practice-review',
  'red-teaming',
  'robustness',
  'test',
] as const;

/** Types of notices to persons: `noticeType`. */
export const EU_NOTICE_TYPES = [
  'ai-interaction',
  'ai-use',
  'biometric-categorisation',
  'deep-fake',
  'emotion-recognition',
  'explanation',
  'generated-text',
  'workplace-ai-use',
] as const;

/** Types of requests: `requestType`. */
export const EU_REQUEST_TYPES = ['authority-information-request', 'explanation'] as const;

/** Capacities of assigned persons: `capacity`. */
export const EU_CAPACITIES = ['human-oversight', 'quality-management'] as const;

/** Procedures of conformity assessment: `procedure`. */
export const EU_PROCEDURES = ['annex-vi', 'annex-vii', 'product-law'] as const;

/** Regimes of notifications: `regime`. */
export const EU_REGIMES = ['eu-ai-act', 'eu-ai-act-27'] as const;
