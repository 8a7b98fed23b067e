import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditDay } from '../../../protocol/audit/day.ts';
import { AssertedShape } from '../../../protocol/chain/asserted.ts';
import type { Claims, Links } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { catalogue, clauseOf, frameworkOf } from '../../../protocol/frameworks/catalogue.ts';
import { alternativesOf } from '../../../protocol/frameworks/condition.ts';
import { clauseEvidence } from '../../../protocol/frameworks/evidence-status.ts';
import { visibility } from '../../../protocol/frameworks/evidence-kinds.ts';
import { EvidenceView } from '../../../protocol/frameworks/evidence-view.ts';
import { readFacet } from '../../../protocol/frameworks/facet.ts';
import { ASKED_WORDS } from '../../../protocol/frameworks/asked-words.ts';
import type { FacetTally } from '../../../protocol/frameworks/tallies.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId, type RecordId, recordId } from '../../../protocol/ids.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';

const HASH = hashText(nativeSuite, 'nothing');
const PERIOD = { from: auditDay('2027-01-01'), to: auditDay('2027-12-31') };
const PERSON = `hmac-sha256:${'a'.repeat(64)}`;
const US = ['US_BANK_MRM', 'US_BANK_MRM_2011', 'US_CONSUMER_CREDIT', 'US_STATE', 'FINRA', 'SEC_17A4'];
const rows = catalogue.frameworks
  .filter(({ id }) => US.includes(id))
  .flatMap(({ id, clauses }) => clauses.map((clause) => ({ name: `${id} ${clause.clause}`, clause })));
let seq = 0;

function idOf(number: number): RecordId {
  return recordId(`att_eu_01J${String(number).padStart(23, '0')}`);
}

function at(day: string) {
  return timestampOf(Date.parse(`${day}T00:00:00Z`));
}

type Facts = Omit<Claims, 'channel'>;

function record(kind: RecordKind, claims: Facts = {}, links: Links = {}): AttestationRecord {
  seq++;
  const source = { account: 'acc', sourceId: 's', sourceSeq: seq, sourcePrev: null };
  const body = { body: HASH, payloadHash: HASH, submittedAt: at('2027-06-01') };
  return {
    v: 2,
    id: idOf(seq),
    kind,
    node: nodeId('eu'),
    seq,
    ...source,
    ...body,
    claims: { channel: 'direct', ...claims },
    links,
  };
}

function document(docType: string, more: Claims['asserted'] = {}): AttestationRecord {
  return record('document', { asserted: { docType, docVersion: '1', sha256: HASH, ...more } });
}

function principal(): AttestationRecord {
  return record('assignment', {
    asserted: { capacity: 'registered-principal', person: PERSON, from: at('2026-01-01') },
  });
}

function counted(...texts: readonly string[]): FacetTally[] {
  return texts.map((text) => {
    const facet = readFacet(text);
    if (facet === undefined) throw new RangeError(text);
    return { facet, count: 1, first: [idOf(1)], last: idOf(1) };
  });
}

function row(framework: string, name: string, records: readonly AttestationRecord[], tallies: FacetTally[] = []) {
  const clause = clauseOf(framework, name);
  if (clause === undefined) throw new RangeError(name);
  const question = { ...PERIOD, framework, systemClass: null, covers: () => true };
  return clauseEvidence(clause, question, new EvidenceView(PERIOD, records, tallies));
}

const LOCK = record('retention_lock', { scope: ['all'], retentionDays: 2192 });
const MODEL = 'decision|DECISION||inputHash,modelId,modelVersion';
const ADVERSE = 'decision|DECISION||adverse=true,inputHash,modelId,modelVersion';

test('every need asks for facts that a kind of it can sign or show to be given', () => {
  const signed = new Set(Object.keys(AssertedShape.properties));
  for (const { name, clause } of rows) {
    for (const { anyOf, where = [], facts } of clause.needs) {
      for (const { field } of [...where, ...facts].flatMap(alternativesOf)) {
        const seen = anyOf.some((kind) => visibility(kind, field) !== undefined);
        assert.ok(
          seen || (field === 'occurredAt' && signed.has(field)),
          `${name}: ${anyOf.join(' or ')} has no ${field}`,
        );
      }
      assert.not.equal(facts, ['submittedAt'], name);
      assert.ok(!facts.includes('thirdPartyModel'), name);
    }
  }
});

test('words that needs ask for are listed for callers', () => {
  assert.ok(ASKED_WORDS.evalType.includes('bias-audit'));
  assert.ok(ASKED_WORDS.docType.includes('undertaking'));
  assert.ok(ASKED_WORDS.regime.includes('us-ny-raise'));
});

test('every row says whose duty it is, what was never checked, and that it was looked at for this edition', () => {
  for (const { name, clause } of rows) {
    assert.is(clause.checkedAt, '2026-11-22', name);
    assert.ok(!clause.neverChecked.includes('the content of what is recorded'), name);
    assert.is(clause.trigger === 'event', clause.event !== undefined, name);
    if (clause.check === 'V') assert.ok(clause.checked !== undefined, name);
  }
});

test('LL 144: two empty records are no evidence, an independent audit of the last year and a notice are', () => {
  const empty = [record('evaluation', { asserted: { evalType: 'bias-audit' } }), record('notice')];
  assert.is(row('US_STATE', 'NYC LL 144', empty).evidenceStatus, 'partly-recorded');
  const audit = (performedAt: string, independent: boolean) =>
    record('evaluation', {
      asserted: {
        evalType: 'bias-audit',
        outcome: 'pass',
        performedAt: at(performedAt),
        performedBy: PERSON,
        independent,
      },
      given: ['metrics'],
    });
  const notice = record('notice', {
    asserted: { noticeType: 'aedt-use', givenAt: at('2027-05-01'), subject: PERSON },
    given: ['content', 'subjectRef'],
  });
  const status = (...records: AttestationRecord[]) => row('US_STATE', 'NYC LL 144', records).evidenceStatus;
  assert.is(status(audit('2027-02-01', true), notice), 'recorded');
  assert.is(status(audit('2027-02-01', false), notice), 'partly-recorded', 'not independent');
  assert.is(status(audit('2025-02-01', true), notice), 'partly-recorded', 'too old');
});

test('17a-4: three empty records are no evidence, and heads of the key-use log are none of an audit trail', () => {
  const empty = ['books-record', 'undertaking', 'redundancy-plan'].map((docType) =>
    record('document', { asserted: { docType } }),
  );
  const heads = counted('key_event|||keyEvent,keyEvent=audit-head');
  for (const { clause } of frameworkOf('SEC_17A4')?.clauses ?? []) {
    assert.is.not(row('SEC_17A4', clause, empty, heads).evidenceStatus, 'recorded', clause);
  }
  assert.is(row('SEC_17A4', '17a-4(f)(2)(i)', [], heads).evidenceStatus, 'nothing-recorded');
  const undertaking = document('undertaking', { approvedBy: PERSON, validFrom: at('2026-01-01') });
  assert.is(row('SEC_17A4', '17a-4(i)', [undertaking]).evidenceStatus, 'recorded');
});

test('texts of a chatbot are communications of 17a-4(b), whether inferences or documents', () => {
  const texts = counted('inference|||inputHash,modelId,modelVersion,outputHash');
  assert.is(row('SEC_17A4', '17a-4(b)', [LOCK], texts).evidenceStatus, 'recorded');
  assert.is(row('SEC_17A4', '17a-4(b)', [LOCK, document('communication')]).evidenceStatus, 'recorded');
  assert.is(row('SEC_17A4', '17a-4(b)', [LOCK, document('policy')]).evidenceStatus, 'partly-recorded');
});

test('3110(b)(4) asks in which capacity somebody reviews', () => {
  const reviewed = counted(
    'inference|||inputHash,outputHash',
    'human_override|||originalAttestationId,overrideDecision,reviewerId',
  );
  assert.is(row('FINRA', '3110(b)(4)', [], reviewed).evidenceStatus, 'partly-recorded');
  assert.is(row('FINRA', '3110(b)(4)', [principal()], reviewed).evidenceStatus, 'recorded');
});

test('a bank without overrides can have every need of validation recorded, and its chatbots do not count', () => {
  const system = (modelType: string) =>
    record('system', {
      asserted: { systemRef: 's', modelType, owner: PERSON, role: 'deployer' },
      given: ['intendedPurpose'],
    });
  const evaluation = (evalType: string) =>
    record('evaluation', {
      asserted: { evalType, outcome: 'pass', performedAt: at('2027-02-01'), performedBy: PERSON, independent: true },
      given: ['findings', 'limitations', 'metrics'],
    });
  const done = [evaluation('validation'), evaluation('monitoring')];
  const status = (modelType: string) =>
    row('US_BANK_MRM', 'validation and monitoring', [system(modelType), ...done]).evidenceStatus;
  assert.is(status('predictive'), 'recorded');
  assert.is(status('generative'), 'partly-recorded');
});

test('a model that is said to be no third party’s raises no duty about vendors', () => {
  const vendor = 'vendor and third-party products';
  const own = counted('decision|DECISION||modelId,modelVersion,thirdPartyModel');
  assert.is(row('US_BANK_MRM', vendor, [], own).evidenceStatus, 'no-event-recorded');
  const bought = counted('decision|DECISION||modelId,modelVersion,thirdPartyModel,thirdPartyModel=true');
  assert.is(row('US_BANK_MRM', vendor, [], bought).evidenceStatus, 'partly-recorded');
});

test('adverse decisions are the event of Colorado 6-1-1704(3), Reg. B 1002.9 and FCRA 615(a)', () => {
  const notice = record(
    'notice',
    { asserted: { noticeType: 'adverse-action', givenAt: at('2027-03-01') }, given: ['content', 'decisionId'] },
    { decision: idOf(1) },
  );
  for (const [framework, name] of [
    ['US_STATE', 'Colorado 6-1-1704(3)'],
    ['US_CONSUMER_CREDIT', 'ECOA Reg. B 1002.9'],
    ['US_CONSUMER_CREDIT', 'FCRA 615(a)'],
  ] as const) {
    assert.is(row(framework, name, [], counted(MODEL)).evidenceStatus, 'no-event-recorded', name);
    const open = row(framework, name, [], counted(ADVERSE));
    assert.is(open.evidenceStatus, 'nothing-recorded', name);
    assert.is(open.events?.count, 1, name);
    assert.is(row(framework, name, [notice], counted(ADVERSE)).evidenceStatus, 'recorded', name);
  }
});

test('an incident without the trigger of a regime is no event of it', () => {
  const incident = record('incident', { severity: 'serious' });
  assert.is(row('FINRA', '4530', [incident]).evidenceStatus, 'no-event-recorded');
});

test('without an incident 4530, SB 53 and RAISE ask for nothing; with one, for a report by the regime’s name', () => {
  for (const [framework, name, regime] of [
    ['FINRA', '4530', 'finra-4530'],
    ['US_STATE', 'California SB 53, BPC 22757.13', 'us-ca-sb-53'],
    ['US_STATE', 'New York RAISE, GBL 1422', 'us-ny-raise'],
  ] as const) {
    assert.is(row(framework, name, []).evidenceStatus, 'no-event-recorded', name);
    const triggers = [{ regime, at: at('2027-06-01') }];
    const incident = record('incident', { severity: 'serious', given: ['awarenessAt'], asserted: { triggers } });
    const told = (to: string) =>
      record(
        'notification',
        { asserted: { to: 'authority', regime: to, reportType: 'initial', sentAt: at('2027-06-02') } },
        { incident: incident.id },
      );
    assert.is(row(framework, name, [incident, told('eu-ai-act')]).evidenceStatus, 'partly-recorded', name);
    assert.is(row(framework, name, [incident, told(regime)]).evidenceStatus, 'recorded', name);
  }
});

test('Colorado’s act of 2026 has a row for each duty with its holder, and says how far the stay reaches', () => {
  const holders = ['1702', '1703', '1704(1)', '1704(3)', '1705'].map(
    (section) => clauseOf('US_STATE', `Colorado 6-1-${section}`)?.dutyHolder,
  );
  assert.equal(holders, [['developer'], ['deployer'], ['deployer'], ['deployer'], ['deployer']]);
  for (const { name, clause } of rows) {
    if (name.startsWith('US_STATE Colorado 6-1')) assert.match(clause.statusNote ?? '', /14 days after the ruling/);
  }
});

test.run();
