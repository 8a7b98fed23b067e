import { readEvidence, type ReportScope } from '../../../../node/http/routes/gap-evidence.ts';
import { KeyedLock } from '../../../../node/concurrency/keyed-lock.ts';
import { GOVERNANCE_PROJECTIONS } from '../../../../node/governance/governance-tables.ts';
import { GovernanceRecords } from '../../../../node/governance/governance-records.ts';
import type { Draft } from '../../../../node/intake/draft.ts';
import { readTallies } from '../../../../node/records/counts/tally-reader.ts';
import { auditDay } from '../../../../protocol/audit/day.ts';
import type { Asserted } from '../../../../protocol/chain/asserted.ts';
import type { Claims } from '../../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { catalogue } from '../../../../protocol/frameworks/catalogue.ts';
import { clauseEvidence } from '../../../../protocol/frameworks/evidence-status.ts';
import { viewOfRecords } from '../../../../protocol/frameworks/record-view.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { RISK_LEVELS } from '../../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { fc } from '../../../fixtures/properties.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';
import { countedDraft, recordsOf, TallyFixture } from '../../records/counts/tally-fixture.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const PERIOD = { from: auditDay('2026-01-11'), to: auditDay('2026-02-10') };
const HASH = hashText(nativeSuite, 'a file');
const ALL: ReportScope = { sourceId: null, systemRef: null, sources: null, systemClass: null, systems: null };

/** Words that clauses ask for, so that generated records fill rows and not only miss them. */
const WORDS = [
  ...new Set(
    catalogue.frameworks.flatMap(({ clauses }) =>
      clauses.flatMap(({ needs }) => needs.flatMap(({ where = [], facts }) => [...where, ...facts])),
    ),
  ),
].flatMap((condition) => condition.split('|'));

function wordsOf(name: string): readonly string[] {
  const words = WORDS.filter((word) => word.startsWith(`${name}=`)).map((word) => word.slice(name.length + 1));
  return words.length === 0 ? ['other'] : words;
}

const at = fc.integer({ min: -40, max: 60 }).map((day) => timestampOf(START + day * DAY_MS));
const pseudonym = fc.constant(`hmac-sha256:${'a'.repeat(64)}`);

const asserted: fc.Arbitrary<Asserted> = fc.record(
  {
    docType: fc.constantFrom(...wordsOf('docType')),
    evalType: fc.constantFrom(...wordsOf('evalType')),
    noticeType: fc.constantFrom(...wordsOf('noticeType')),
    requestType: fc.constantFrom(...wordsOf('requestType')),
    capacity: fc.constantFrom(...wordsOf('capacity')),
    docVersion: fc.constant('1'),
    sha256: fc.constant(HASH),
    approvedBy: pseudonym,
    approvedAt: at,
    performedAt: at,
    performedBy: pseudonym,
    outcome: fc.constant('pass'),
    independent: fc.boolean(),
    person: pseudonym,
    mayStop: fc.boolean(),
    systemRef: fc.constantFrom('one', 'two'),
    sentAt: at,
    to: fc.constantFrom('authority' as const, 'provider' as const),
    validUntil: at,
  },
  { requiredKeys: ['docType', 'evalType', 'noticeType', 'requestType', 'capacity'] },
);

const KINDS = [
  'document',
  'evaluation',
  'assignment',
  'notice',
  'request',
  'system',
  'dataset',
  'supplier',
  'notification',
  'risk_assessment',
  'impact_assessment',
] as const;

const governance = fc.record({
  kind: fc.constantFrom(...KINDS),
  asserted,
  given: fc.subarray(['risksIdentified', 'mitigations', 'residualRisk', 'assessedBy', 'metrics']),
});
const decision: fc.Arbitrary<Omit<Claims, 'channel'>> = fc.record(
  {
    modelId: fc.constant('m'),
    modelVersion: fc.constant('1'),
    riskLevel: fc.constantFrom(...RISK_LEVELS),
    thirdPartyModel: fc.boolean(),
    environment: fc.constantFrom('production' as const, 'test' as const),
    eventType: fc.constantFrom('DECISION', 'TECH_DOC', 'BIAS_AUDIT'),
    inputHash: fc.constant(HASH),
    asserted: fc.record({ emptyData: fc.constant(true as const), adverse: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
const incident = fc.record({ criteria: fc.subarray(['death', 'health', 'critical-infrastructure'] as const) });
const lock = fc.record({ retentionDays: fc.integer({ min: 1825, max: 4000 }) });

const draft: fc.Arbitrary<Draft> = fc.oneof(
  governance.map(({ kind, asserted: facts, given }) => countedDraft('s', { given, asserted: facts }, { kind })),
  decision.map((claims) => countedDraft('s', claims)),
  incident.map(({ criteria }) => countedDraft('s', { criteria, severity: 'serious' }, { kind: 'incident' })),
  lock.map(({ retentionDays }) => countedDraft('s', { retentionDays, scope: ['all'] }, { kind: 'retention_lock' })),
);

/** When each record is made, and what it is. */
export const historyArbitrary = fc.array(fc.record({ day: fc.integer({ min: 0, max: 60 }), draft }), { maxLength: 12 });

/**
 * Records generated histories, each as an account of its own, and reads what a node says of every clause of each, beside
 * what the rules say of the records alone: a text for each row.
 */
export async function compareHistories(
  histories: readonly (readonly { readonly day: number; readonly draft: Draft }[])[],
  onCompared: (node: readonly string[], rules: readonly string[]) => void,
): Promise<void> {
  await using directory = await temporaryDirectory();
  let now = START;
  await using fixture = await TallyFixture.open(directory.path, {
    now: () => now,
    projections: GOVERNANCE_PROJECTIONS,
  });
  const steps = histories.flatMap((history, i) =>
    history.map(({ day, draft: made }) => ({ day, draft: { ...made, account: `acc${i}` } })),
  );
  for (let day = 0; day <= 60; day++) {
    now = START + day * DAY_MS;
    const drafts = steps.filter((step) => step.day === day).map((step) => step.draft);
    if (drafts.length > 0) await fixture.intake.submitAll(drafts);
  }
  await fixture.counters.flush();
  const governed = new GovernanceRecords(fixture.store, new KeyedLock());
  const byAccount = Map.groupBy(await recordsOf(fixture.store), ({ account }) => account);
  for (const [account, records] of byAccount) {
    onCompared(await nodeSays(fixture, governed, account), rulesSay(records));
  }
}

async function nodeSays(
  fixture: TallyFixture,
  governed: GovernanceRecords,
  account: string,
): Promise<readonly string[]> {
  const caller = {
    account: { id: account, tier: 'unmetered' as const, createdAt: timestampOf(0) },
    key: { id: 'key', scopes: [], sources: null },
  };
  const { tallies } = await readTallies(fixture.store, { account, sources: null, ...PERIOD });
  const counted = tallies.filter(({ facet: { environment } }) => environment !== 'test' && environment !== 'staging');
  const evidence = await readEvidence(governed, caller, ALL, { ...PERIOD, includeTest: false }, counted);
  return catalogue.frameworks.flatMap((framework) =>
    framework.clauses.map((clause) => {
      const { evidenceStatus, needs, events } = evidence.of(framework, clause);
      return JSON.stringify([
        framework.id,
        clause.clause,
        evidenceStatus,
        needs.map(({ recorded, count }) => [recorded, count]),
        events,
      ]);
    }),
  );
}

function rulesSay(records: readonly AttestationRecord[]): readonly string[] {
  const view = viewOfRecords(PERIOD, records.toReversed());
  return catalogue.frameworks.flatMap(({ id: framework, clauses }) =>
    clauses.map((clause) => {
      const question = { ...PERIOD, framework, systemClass: null, covers: () => false };
      const { evidenceStatus, needs, events } = clauseEvidence(clause, question, view);
      return JSON.stringify([
        framework,
        clause.clause,
        evidenceStatus,
        needs.map(({ isRecorded, count }) => [isRecorded, count]),
        events,
      ]);
    }),
  );
}
