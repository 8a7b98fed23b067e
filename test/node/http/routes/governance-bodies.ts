import { isJsonArray, isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';

/**
 * The least that each endpoint of governance accepts. `session/end` and steps of an action name something made before.
 */
export const LEAST = {
  '/v1/session/start': { sourceId: 'triage' },
  '/v1/human-override': { sourceId: 'triage', originalAttestationId: 'none', reviewerId: 'r', allowUnresolved: true },
  '/v1/incident': {
    sourceId: 'triage',
    severity: 'serious',
    description: 'd',
    incidentPeriodStart: '2026-01-01T00:00:00Z',
  },
  '/v1/retention-lock': { sourceId: 'locked', retentionPeriodDays: 1825, scope: 'all' },
  '/v1/risk-assessment': { sourceId: 'triage', risksIdentified: ['r'] },
  '/v1/impact-assessment': { sourceId: 'triage', intendedPurpose: 'p' },
  '/v1/corrective-action': { sourceId: 'triage', nonconformityDescription: 'n' },
} as const satisfies Readonly<Record<string, JsonObject>>;

export type GovernancePath = keyof typeof LEAST;

/** The members of every answer to an accepted record. */
export const ENVELOPE = ['attestationId', 'status', 'submittedAt', 'success', 'topic', 'verifyUrl', 'warnings'];

/** The objects of a list in an answer. */
export function objectsOf(body: JsonObject, name: string): readonly JsonObject[] {
  const list = body[name] ?? [];
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

export function textOf(length: number, character = 'a'): string {
  return character.repeat(length);
}

/** An id that is well-formed, and of nothing. */
export const NOTHING = 'att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ';

/** Members of the greatest length that is accepted. */
export const LONG: readonly (readonly [path: GovernancePath, members: JsonObject])[] = [
  ['/v1/session/start', { purpose: textOf(1000, '😀'), operatorId: textOf(256) }],
  ['/v1/human-override', { reviewerId: textOf(256), overrideDecision: textOf(2000), overrideReason: textOf(4000) }],
  ['/v1/incident', { description: textOf(8000), reportedBy: textOf(256), memberStates: ['DE', 'FR'] }],
  ['/v1/retention-lock', { retentionPeriodDays: 36_525, regulatoryBasis: textOf(500), lockedBy: textOf(256) }],
  [
    '/v1/retention-lock',
    { scope: ['decisions', 'sessions', 'oversight', 'incidents', 'assessments', 'corrective-actions', 'documents'] },
  ],
  ['/v1/retention-lock', { scope: Array.from({ length: 32 }, (_, n) => `event:E${n}`), startsAt: '0001-01-01' }],
  ['/v1/retention-lock', { scope: `event:${textOf(64, 'E')}` }],
  [
    '/v1/risk-assessment',
    { risksIdentified: Array.from({ length: 100 }, () => textOf(2000)), residualRisk: textOf(64) },
  ],
  ['/v1/impact-assessment', { intendedPurpose: textOf(4000), overallRating: textOf(64) }],
  ['/v1/impact-assessment', { processes: textOf(4000), dpiaRef: textOf(256), affectedGroups: [textOf(2000)] }],
  [
    '/v1/impact-assessment',
    { usePeriod: textOf(1000), oversightMeasures: [textOf(2000)], riskMeasures: [textOf(2000)] },
  ],
  ['/v1/corrective-action', { nonconformityDescription: textOf(4000), rootCause: textOf(4000) }],
];

/** Members that are refused, and the field that is named. */
export const REFUSED: readonly (readonly [path: GovernancePath, members: JsonObject, field: string])[] = [
  ['/v1/session/start', { sourceId: '' }, 'sourceId'],
  ['/v1/session/start', { purpose: textOf(1001) }, 'purpose'],
  ['/v1/session/start', { environment: 'prod' }, 'environment'],
  ['/v1/session/start', { operatorId: textOf(257) }, 'operatorId'],
  ['/v1/human-override', { reviewerId: '' }, 'reviewerId'],
  ['/v1/human-override', { reviewerId: textOf(257) }, 'reviewerId'],
  ['/v1/human-override', { originalAttestationId: 7 }, 'originalAttestationId'],
  ['/v1/human-override', { overrideDecision: textOf(2001) }, 'overrideDecision'],
  ['/v1/human-override', { overrideReason: textOf(4001) }, 'overrideReason'],
  ['/v1/human-override', { reviewOutcome: 'agreed' }, 'reviewOutcome'],
  ['/v1/human-override', { reviewedAt: 'yesterday' }, 'reviewedAt'],
  ['/v1/human-override', { allowUnresolved: 'yes' }, 'allowUnresolved'],
  ['/v1/incident', { severity: 'minor' }, 'severity'],
  ['/v1/incident', { description: '' }, 'description'],
  ['/v1/incident', { description: textOf(8001) }, 'description'],
  ['/v1/incident', { incidentPeriodStart: '2026-02-30' }, 'incidentPeriodStart'],
  ['/v1/incident', { incidentPeriodStart: '2026-01-01T10:00:00' }, 'incidentPeriodStart'],
  ['/v1/incident', { incidentPeriodEnd: 7 }, 'incidentPeriodEnd'],
  ['/v1/incident', { criteria: ['loss'] }, 'criteria.0'],
  ['/v1/incident', { criteria: ['death', 'death'] }, 'criteria'],
  ['/v1/incident', { memberStates: [''] }, 'memberStates.0'],
  ['/v1/incident', { relatedAttestationIds: Array.from({ length: 101 }, () => NOTHING) }, 'relatedAttestationIds'],
  ['/v1/retention-lock', { retentionPeriodDays: 36_526 }, 'retentionPeriodDays'],
  ['/v1/retention-lock', { retentionPeriodDays: 1825.5 }, 'retentionPeriodDays'],
  ['/v1/retention-lock', { retentionPeriodDays: '1825' }, 'retentionPeriodDays'],
  ['/v1/retention-lock', { scope: 'everything' }, 'scope'],
  ['/v1/retention-lock', { scope: [] }, 'scope'],
  ['/v1/retention-lock', { scope: ['decisions', 'decisions'] }, 'scope'],
  ['/v1/retention-lock', { scope: ['all', 'decisions'] }, 'scope'],
  ['/v1/retention-lock', { scope: 'event:lower' }, 'scope'],
  ['/v1/retention-lock', { scope: 'event:*' }, 'scope'],
  ['/v1/retention-lock', { scope: `event:${textOf(65, 'E')}` }, 'scope'],
  ['/v1/retention-lock', { scope: ['all', 'event:TECH_DOC'] }, 'scope'],
  ['/v1/retention-lock', { scope: Array.from({ length: 33 }, (_, n) => `event:E${n}`) }, 'scope'],
  ['/v1/retention-lock', { startsAt: 'market entry' }, 'startsAt'],
  ['/v1/retention-lock', { startsAt: '2026-02-30' }, 'startsAt'],
  ['/v1/retention-lock', { startsAt: 7 }, 'startsAt'],
  ['/v1/retention-lock', { startsAt: '9999-12-31' }, 'startsAt'],
  ['/v1/retention-lock', { regulatoryBasis: textOf(501) }, 'regulatoryBasis'],
  ['/v1/retention-lock', { legalHold: 1 }, 'legalHold'],
  ['/v1/risk-assessment', { risksIdentified: [] }, 'risksIdentified'],
  ['/v1/risk-assessment', { risksIdentified: Array.from({ length: 101 }, () => 'r') }, 'risksIdentified'],
  ['/v1/risk-assessment', { risksIdentified: [textOf(2001)] }, 'risksIdentified.0'],
  ['/v1/risk-assessment', { mitigations: 'none' }, 'mitigations'],
  ['/v1/risk-assessment', { residualRisk: textOf(65) }, 'residualRisk'],
  ['/v1/risk-assessment', { reviewDueAt: 'soon' }, 'reviewDueAt'],
  ['/v1/impact-assessment', { intendedPurpose: '' }, 'intendedPurpose'],
  ['/v1/impact-assessment', { intendedPurpose: textOf(4001) }, 'intendedPurpose'],
  ['/v1/impact-assessment', { overallRating: 3 }, 'overallRating'],
  ['/v1/impact-assessment', { processes: '' }, 'processes'],
  ['/v1/impact-assessment', { usePeriod: textOf(1001) }, 'usePeriod'],
  ['/v1/impact-assessment', { affectedGroups: 'all' }, 'affectedGroups'],
  ['/v1/impact-assessment', { specificRisks: [''] }, 'specificRisks.0'],
  ['/v1/impact-assessment', { dpiaRef: textOf(257) }, 'dpiaRef'],
  ['/v1/impact-assessment', { firstUseAt: 'soon' }, 'firstUseAt'],
  ['/v1/impact-assessment', { firstUseAt: '2026-02-30' }, 'firstUseAt'],
  ['/v1/impact-assessment', { supersedes: 7 }, 'supersedes'],
  ['/v1/corrective-action', { nonconformityDescription: textOf(4001) }, 'nonconformityDescription'],
  ['/v1/corrective-action', { status: 'done' }, 'status'],
  ['/v1/corrective-action', { correctiveActions: [7] }, 'correctiveActions.0'],
];
