/**
 * Words that the rows of United States law look for in signed facts. Another word is signed all the same and evidences
 * none of them.
 */

/** Types of documents: `docType`. */
export const US_DOC_TYPES = [
  'admt-public-notice',
  'bias-audit-summary',
  'books-record',
  'change-record',
  'communication',
  'designated-party-undertaking',
  'developer-documentation',
  'frontier-ai-framework',
  'frontier-transparency-report',
  'model-documentation',
  'model-materiality-assessment',
  'model-risk-policy',
  'redundancy-plan',
  'retail-communication',
  'supervisory-control-report',
  'undertaking',
  'written-supervisory-procedures',
] as const;

/** Types of evaluations: `evalType`. */
export const US_EVAL_TYPES = [
  'anti-bias-testing',
  'bias-audit',
  'monitoring',
  'pre-deployment-evaluation',
  'recordkeeping-assessment',
  'recordkeeping-verification',
  'red-teaming',
  'restore-test',
  'supervisory-control-test',
  'supervisory-review',
  'validation',
] as const;

/** Types of notices: `noticeType`. */
export const US_NOTICE_TYPES = [
  'admt-pre-use',
  'admt-use',
  'adverse-action',
  'adverse-outcome',
  'aedt-use',
  'ai-use-employment',
  'fcra-adverse-action',
  'generative-ai-disclosure',
] as const;

/** Types of requests: `requestType`. */
export const US_REQUEST_TYPES = [
  'access',
  'appeal',
  'complaint',
  'correction',
  'data-practices',
  'explanation',
  'human-review',
  'opt-out',
] as const;

/** Capacities of persons who are assigned: `capacity`. */
export const US_CAPACITIES = [
  'designated-executive-officer',
  'designated-third-party',
  'human-reviewer',
  'registered-principal',
  'supervisory-control-principal',
] as const;

/** Regimes of notifications: `regime`. */
export const US_REGIMES = ['finra-4530', 'us-ca-ccpa', 'us-ca-sb-53', 'us-co-sb26-189', 'us-ny-raise'] as const;
