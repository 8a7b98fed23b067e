import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditDay } from '../../../protocol/audit/day.ts';
import { AssertedShape } from '../../../protocol/chain/asserted.ts';
import type { Claims, Links } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { clauseOf, frameworkOf } from '../../../protocol/frameworks/catalogue.ts';
import { alternativesOf } from '../../../protocol/frameworks/condition.ts';
import { visibility } from '../../../protocol/frameworks/evidence-kinds.ts';
import { clauseEvidence, type EvidenceQuestion } from '../../../protocol/frameworks/evidence-status.ts';
import { EvidenceView } from '../../../protocol/frameworks/evidence-view.ts';
import { readFacet } from '../../../protocol/frameworks/facet.ts';
import type { FacetTally } from '../../../protocol/frameworks/tallies.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId, type RecordId, recordId } from '../../../protocol/ids.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';

const ID = 'EU_AI_ACT';
const HASH = hashText(nativeSuite, 'nothing');
const PERSON = `hmac-sha256:${'a'.repeat(64)}`;
const PERIOD = { from: auditDay('2028-09-01'), to: auditDay('2029-08-31') };
const WITHIN = '2029-01-01';
/** What a record shows by being one. */
const TRIVIAL = new Set(['submittedAt', 'signature', 'sourceSeq', 'startTime', 'endTime']);
const clauses = frameworkOf(ID)?.clauses ?? [];
let seq = 0;

function idOf(number: number): RecordId {
  return recordId(`att_eu_01J${String(number).padStart(23, '0')}`);
}

function at(day: string) {
  return timestampOf(Date.parse(`${day}T00:00:00Z`));
}

type Facts = Omit<Claims, 'channel'>;

function record(kind: RecordKind, claims: Facts = {}, links: Links = {}, day = WITHIN): AttestationRecord {
  seq++;
  return {
    v: 2,
    id: idOf(seq),
    kind,
    node: nodeId('eu'),
    seq,
    submittedAt: at(day),
    body: HASH,
    account: 'acc',
    sourceId: 's',
    sourceSeq: seq,
    sourcePrev: null,
    payloadHash: HASH,
    claims: { channel: 'direct', ...claims },
    links,
  };
}

function document(docType: string, more: Claims['asserted'] = {}, day = WITHIN): AttestationRecord {
  const asserted = { docType, docVersion: '1', sha256: HASH, approvedBy: PERSON, ...more };
  return record('document', { asserted }, {}, day);
}

function counted(...texts: readonly string[]): FacetTally[] {
  return texts.map((text) => {
    const facet = readFacet(text);
    if (facet === undefined) throw new RangeError(text);
    return { facet, count: 1, first: [idOf(1)], last: idOf(1) };
  });
}

function row(
  name: string,
  records: readonly AttestationRecord[],
  tallies: readonly FacetTally[] = [],
  more: Partial<EvidenceQuestion> = {},
) {
  const clause = clauseOf(ID, name);
  if (clause === undefined) throw new RangeError(name);
  const question = { ...PERIOD, framework: ID, systemClass: null, covers: () => true, ...more };
  return clauseEvidence(clause, question, new EvidenceView(question, records, tallies));
}

const LOGS = counted('decision|DECISION||inputHash,modelId,modelVersion,occurredAt');

test('every need asks for a fact beside what every record shows, and one that a kind of it has', () => {
  const signed = new Set(Object.keys(AssertedShape.properties));
  for (const { clause, needs } of clauses) {
    for (const { anyOf, where = [], facts } of needs) {
      for (const { field } of [...where, ...facts].flatMap(alternativesOf)) {
        const seen = signed.has(field) || anyOf.some((kind) => visibility(kind, field) !== undefined);
        assert.ok(seen, `${clause}: ${anyOf.join(' or ')} has no ${field}`);
      }
      assert.ok(
        facts.some((fact) => alternativesOf(fact).every(({ field }) => !TRIVIAL.has(field))),
        clause,
      );
    }
  }
});

test('every row says whose duty it is, what was never checked, and that it was looked at for this edition', () => {
  for (const { clause, dutyHolder, neverChecked, checked, checkedAt, trigger, event } of clauses) {
    assert.ok(!dutyHolder.includes('organisation'), clause);
    assert.ok(!neverChecked.includes('the content of what is recorded'), clause);
    assert.ok(checked !== undefined, clause);
    assert.is(checkedAt, '2026-11-22', clause);
    assert.is(trigger === 'event', event !== undefined, clause);
  }
});

test('rows of what applies today and of what comes later are there, with their holders', () => {
  const holders = (name: string) => clauseOf(ID, name)?.dutyHolder;
  for (const name of ['4', '5', '50(1)', '50(2)', '50(3)', '50(4)', '53(1)(c)', '53(1)(d)', '54', '55']) {
    assert.is(clauseOf(ID, name)?.status, 'in-force', name);
  }
  for (const name of ['4a', '16', '21', '22', '43', '47', '48', '86']) assert.ok(clauseOf(ID, name), name);
  for (const name of ['26(1)', '26(2)', '26(4)', '26(5)', '26(6)', '26(8)', '26(9)', '26(11)', '27', '50(4)']) {
    assert.equal(holders(name), ['deployer'], name);
  }
  for (const name of ['9', '14', '17', '19', '20', '43', '72', '73(2)']) {
    assert.equal(holders(name), ['provider'], name);
  }
  assert.equal([holders('23'), holders('24')], [['importer'], ['distributor']]);
  assert.equal(holders('53(1)(d)'), ['gpai-provider']);
});

test('nine calls with empty data, one decision and one lock make no row recorded', () => {
  const events = [
    'DATA_GOVERNANCE',
    'TECH_DOC',
    'INSTRUCTIONS_FOR_USE',
    'PERFORMANCE_TEST',
    'QMS_RECORD',
    'REGISTRATION',
  ];
  const tallies = counted(
    ...[...events, 'PMM_REPORT', 'GPAI_DOC', 'DOWNSTREAM_INFO', 'DECISION'].map(
      (event) => `decision|${event}||dataHash,emptyData,inputHash,modelVersion`,
    ),
    'decision|DECISION||confidenceScore,dataHash,inputHash,modelId,modelVersion',
  );
  const lock = record('retention_lock', { scope: ['all'], retentionDays: 3653, given: ['regulatoryBasis'] });
  for (const { clause } of clauses) {
    assert.is.not(row(clause, [lock], tallies).evidenceStatus, 'recorded', clause);
  }
});

test('19 and 26(6) ask for logs and for a lock that names its basis', () => {
  const lock = record('retention_lock', { scope: ['decisions'], retentionDays: 1825, given: ['regulatoryBasis'] });
  const baseless = record('retention_lock', { scope: ['decisions'], retentionDays: 1825 });
  for (const name of ['19', '26(6)']) {
    assert.is(row(name, [lock]).evidenceStatus, 'partly-recorded', name);
    assert.is(row(name, [], LOGS).evidenceStatus, 'partly-recorded', name);
    assert.is(row(name, [baseless], LOGS).evidenceStatus, 'partly-recorded', name);
    assert.is(row(name, [lock], LOGS).evidenceStatus, 'recorded', name);
  }
});

test('18 asks for the documents and for ten years from a day that is named', () => {
  const kept = [
    document('technical-documentation', {}, '2027-12-01'),
    document('quality-management-system', {}, '2027-12-01'),
    document('eu-declaration-of-conformity', {}, '2027-12-01'),
    record('system', {
      asserted: { systemRef: 's', role: 'provider', systemStatus: 'on-market', placedOnMarketAt: at('2027-12-01') },
    }),
  ];
  const lock = (more: Facts) => record('retention_lock', { scope: ['documents'], retentionDays: 3653, ...more });
  assert.is(row('18', [lock({})]).evidenceStatus, 'partly-recorded');
  assert.is(row('18', [...kept, lock({})]).evidenceStatus, 'partly-recorded', 'from nowhere');
  const from = { asserted: { startsAt: at('2027-12-01') } };
  assert.is(row('18', [...kept, lock({ ...from, scope: ['decisions'] })]).evidenceStatus, 'partly-recorded', 'logs');
  assert.is(row('18', [...kept, lock(from)]).evidenceStatus, 'recorded');
});

test('duties about incidents arise by incidents, and one report of two is not all', () => {
  for (const { clause, event } of clauses) {
    if (event !== undefined) assert.is(row(clause, []).evidenceStatus, 'no-event-recorded', clause);
  }
  const incident = (criteria: NonNullable<Claims['criteria']>) =>
    record('incident', { severity: 'serious', criteria, given: ['awarenessAt', 'memberStates'] });
  const told = ({ id }: AttestationRecord, regime = 'eu-ai-act') =>
    record(
      'notification',
      { asserted: { to: 'authority', regime, reportType: 'initial', sentAt: at(WITHIN), memberState: 'DE' } },
      { incident: id },
    );
  const [health, death] = [incident(['health']), incident(['death'])];
  assert.is(row('73(4)', [health]).evidenceStatus, 'no-event-recorded');
  const { evidenceStatus, needs } = row('73(2)', [health, death, told(health)]);
  assert.is(evidenceStatus, 'partly-recorded');
  assert.is(needs[1]?.missing, 'notification: of 1 of 2 events');
  assert.is(row('73(4)', [health, death, told(health)]).evidenceStatus, 'partly-recorded');
  assert.is(row('73(2)', [health, death, told(health), told(death)]).evidenceStatus, 'recorded');
  assert.is(row('73(4)', [death, told(death)]).evidenceStatus, 'recorded');
  assert.is(row('73(4)', [death, told(death, 'gdpr-33')]).evidenceStatus, 'partly-recorded', 'another law');
});

test('a deployer tells the provider and the authority of each serious incident', () => {
  const incident = record('incident', { severity: 'serious', given: ['awarenessAt'], asserted: { role: 'deployer' } });
  const told = (to: 'provider' | 'authority') =>
    record(
      'notification',
      { asserted: { to, regime: 'eu-ai-act', reportType: 'initial', sentAt: at(WITHIN), authority: 'a' } },
      { incident: incident.id },
    );
  const name = '26(5), serious incident';
  assert.is(row(name, [incident, told('authority')]).evidenceStatus, 'partly-recorded');
  assert.is(row(name, [incident, told('authority'), told('provider')]).evidenceStatus, 'recorded');
});

test('27 asks for (a) to (f), for first use and for the notification, however long ago', () => {
  const members = ['affectedGroups', 'oversightMeasures', 'processes', 'riskMeasures', 'specificRisks', 'usePeriod'];
  const asserted = { firstUseAt: at('2027-12-02') };
  const assessment = (given: string[]) => record('impact_assessment', { given, asserted }, {}, '2027-11-01');
  const told = record(
    'notification',
    { asserted: { to: 'authority', regime: 'eu-ai-act-27', reportType: 'final', sentAt: at('2027-11-02') } },
    {},
    '2027-11-02',
  );
  assert.is(row('27', [assessment(members), told]).evidenceStatus, 'recorded');
  assert.is(row('27', [assessment(members)]).evidenceStatus, 'partly-recorded', 'not notified');
  for (const left of members) {
    const given = members.filter((member) => member !== left);
    assert.is(row('27', [assessment(given), told]).evidenceStatus, 'partly-recorded', left);
  }
});

test('what applies from its classification on does not apply to a system of a class before that', () => {
  const period = { from: auditDay('2026-01-01'), to: auditDay('2026-12-31') };
  for (const name of ['49 + Annex VIII', '72', '73(2)', '73(3)', '73(4)']) {
    assert.is(clauseOf(ID, name)?.status, 'applies-on-classification', name);
    for (const systemClass of ['annexIII', 'annexI'] as const) {
      assert.is(row(name, [], [], { ...period, systemClass }).evidenceStatus, 'not-yet-applicable', name);
    }
  }
  const later = { from: auditDay('2028-01-01'), to: auditDay('2028-06-30') };
  assert.is(row('9', [], [], { ...later, systemClass: 'annexI' }).evidenceStatus, 'not-yet-applicable');
  assert.is(row('9', [], [], { ...later, systemClass: 'annexIII' }).evidenceStatus, 'nothing-recorded');
  assert.is(row('50(1)', [], [], period).evidenceStatus, 'nothing-recorded');
});

test('a plan of post-market monitoring is asked for beside what came of it', () => {
  const plan = document('post-market-monitoring-plan', {}, '2027-12-01');
  const round = record('evaluation', {
    asserted: { evalType: 'monitoring', outcome: 'pass', performedAt: at(WITHIN) },
    given: ['metrics'],
  });
  assert.is(row('72', [document('post-market-monitoring-report')], LOGS).evidenceStatus, 'partly-recorded');
  assert.is(row('72', [plan], LOGS).evidenceStatus, 'partly-recorded');
  assert.is(row('72', [plan, round]).evidenceStatus, 'recorded');
});

test('who oversees has competence, training and the authority to stop', () => {
  const person = { person: PERSON, capacity: 'human-oversight', systemRef: 's', from: at(WITHIN) };
  const assigned = (mayStop: boolean) =>
    record('assignment', { asserted: { ...person, trainedAt: at(WITHIN), mayStop }, given: ['competence'] });
  assert.is(row('26(2)', [assigned(false)]).evidenceStatus, 'partly-recorded');
  assert.is(row('26(2)', [assigned(true)]).evidenceStatus, 'recorded');
});

test.run();
