import type { Claims, Links } from '../chain/claims.ts';
import type { AttestationRecord } from '../chain/record.ts';
import { eventOfScope } from '../compliance/retention.ts';
import type { LockScope } from '../statement/vocabulary.ts';
import { isKnownEvent } from './event-types.ts';
import { type DecisionField, TELLING_FIELDS } from './evidence-kinds.ts';

/** Calendar spans that laws ask for, in whole days: 3, 4, 5, 6, 7 and 10 years. A lock shows the longest it reaches. */
export const RETENTION_STEPS = [1096, 1461, 1827, 2192, 2557, 3653] as const;

type Told = (claims: Claims, links: Links) => boolean;

const DECISION_TESTS: Readonly<Record<DecisionField, Told>> = {
  agentId: ({ agentId }) => isGiven(agentId),
  confidenceScore: ({ confidenceScore }) => confidenceScore !== undefined,
  dataHash: ({ dataHash }) => dataHash !== undefined,
  incidentId: (_, { incident }) => incident !== undefined,
  inputHash: ({ inputHash }) => inputHash !== undefined,
  jurisdiction: ({ jurisdiction = [] }) => jurisdiction.length > 0,
  matched: ({ matched }) => matched !== undefined,
  modelId: ({ modelId }) => isGiven(modelId),
  modelVersion: ({ modelVersion }) => isGiven(modelVersion),
  outputHash: ({ outputHash }) => outputHash !== undefined,
  referenceDatabase: ({ referenceDatabase = [] }) => referenceDatabase.some(({ id }) => isGiven(id)),
  riskLevel: ({ riskLevel }) => isGiven(riskLevel),
  sessionId: (_, { session }) => session !== undefined,
  systemId: ({ systemId }) => isGiven(systemId),
  thirdPartyModel: ({ thirdPartyModel }) => thirdPartyModel !== undefined,
};

/** What the rules of `evidence-rules/2` alone ask of a decision. */
const ASSERTED_TESTS: Readonly<Record<string, Told>> = {
  'adverse=true': ({ asserted }) => asserted?.adverse === true,
  emptyData: ({ asserted }) => asserted?.emptyData === true,
  occurredAt: ({ asserted }) => asserted?.occurredAt !== undefined,
  subject: ({ asserted }) => asserted?.subject !== undefined,
  'thirdPartyModel=true': ({ thirdPartyModel }) => thirdPartyModel === true,
};

const DECISION_TOKENS: readonly (readonly [token: string, test: Told])[] = [
  ...TELLING_FIELDS.decision.map((field) => [field, DECISION_TESTS[field]] as const),
  ...Object.entries(ASSERTED_TESTS),
];

/** Texts of the combinations met so far, by their bits: at most two to the number of a decision's fields. */
const decisionTexts = new Map<number, string>();

/**
 * Names of the fields that a signed record can be seen to have, sorted, separated by commas. A field with few values
 * that clauses tell apart also comes as `name=value`. Nothing of a payload is among them, so erasure changes nothing.
 */
export function fieldsShown(record: AttestationRecord): string {
  return record.kind === 'decision' ? decisionFields(record) : governanceFields(record);
}

function decisionFields({ claims, links }: AttestationRecord): string {
  let bits = 0;
  for (let i = 0; i < DECISION_TOKENS.length; i++) {
    if (DECISION_TOKENS[i]?.[1](claims, links) === true) bits |= 1 << i;
  }
  let text = decisionTexts.get(bits);
  if (text === undefined) {
    text = DECISION_TOKENS.filter((_, i) => (bits & (1 << i)) !== 0)
      .map(([token]) => token)
      .join(',');
    decisionTexts.set(bits, text);
  }
  return text;
}

/** What was given of what the kind tells, and what its claims and links say by themselves. */
function governanceFields({ kind, claims, links }: AttestationRecord): string {
  const telling: readonly string[] = TELLING_FIELDS[kind];
  const names = new Set([...(claims.given ?? []), ...namesOf(claimsTold(claims))]);
  // A name that was given and leads to nothing shows nothing.
  for (const [name, target] of Object.entries(leadsOf(claims, links))) {
    if (target === undefined) names.delete(name);
    else names.add(name);
  }
  const told = [...names].filter((name) => telling.includes(name));
  return [...told, ...valuesTold(claims)].sort().join(',');
}

function claimsTold(claims: Claims): Readonly<Record<string, unknown>> {
  const { actionStatus, criteria, decisionCount, keyEvent, notificationDueAt, overallRating } = claims;
  const { residualRisk, retentionDays: retentionPeriodDays, reviewOutcome, scope, severity } = claims;
  const { agentId, fact, inputHash, jurisdiction, matched, modelId, modelVersion, observedAt, outputHash } = claims;
  const { referenceDatabase, thirdPartyModel, verdict } = claims;
  return {
    agentId,
    fact,
    inputHash,
    jurisdiction,
    matched,
    modelId,
    modelVersion,
    observedAt,
    outputHash,
    referenceDatabase,
    thirdPartyModel,
    verdict,
    actionStatus,
    criteria,
    decisionCount,
    keyEvent,
    notificationDueAt,
    overallRating,
    residualRisk,
    retentionPeriodDays,
    reviewOutcome,
    scope,
    severity,
  };
}

function leadsOf({ reviewer }: Claims, { original, incident }: Links): Readonly<Record<string, unknown>> {
  return { originalAttestationId: original, incidentId: incident, reviewerId: reviewer };
}

function namesOf(facts: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(facts).filter((name) => facts[name] !== undefined);
}

function valuesTold({ reviewOutcome, criteria = [], scope = [], keyEvent, retentionDays = 0 }: Claims): string[] {
  const scopes = new Set(scope.map(scopeTold));
  const told = [...criteria.map((value) => `criteria=${value}`), ...[...scopes].map((value) => `scope=${value}`)];
  const step = RETENTION_STEPS.findLast((days) => retentionDays >= days);
  if (step !== undefined) told.push(`retentionPeriodDays=${step}`);
  if (reviewOutcome !== undefined) told.push(`reviewOutcome=${reviewOutcome}`);
  if (keyEvent !== undefined) told.push(`keyEvent=${keyEvent}`);
  return told;
}

/** Events that no clause knows are not told apart: there may be any number. */
function scopeTold(scope: LockScope): string {
  const event = eventOfScope(scope);
  return event === undefined || isKnownEvent(event) ? scope : 'event';
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}
