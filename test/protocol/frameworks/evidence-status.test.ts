import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditDay } from '../../../protocol/audit/day.ts';
import type { Claims, Links } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Clause, FactNeed } from '../../../protocol/frameworks/catalogue-shape.ts';
import { clauseEvidence, type EvidenceQuestion } from '../../../protocol/frameworks/evidence-status.ts';
import { EvidenceView } from '../../../protocol/frameworks/evidence-view.ts';
import { readFacet } from '../../../protocol/frameworks/facet.ts';
import { systemClassOf } from '../../../protocol/frameworks/system-class.ts';
import type { FacetTally } from '../../../protocol/frameworks/tallies.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId, type RecordId, recordId } from '../../../protocol/ids.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { fc } from '../../fixtures/properties.ts';

const HASH = hashText(nativeSuite, 'nothing');
const PERIOD = { from: auditDay('2026-01-01'), to: auditDay('2026-12-31') };
let seq = 0;

function idOf(number: number): RecordId {
  return recordId(`att_eu_01J${String(number).padStart(23, '0')}`);
}

interface Made {
  readonly at?: string;
  readonly claims?: Omit<Claims, 'channel'>;
  readonly links?: Links;
  readonly sourceId?: string;
}

function record(kind: RecordKind, made: Made = {}): AttestationRecord {
  const { at = '2026-06-01T00:00:00Z', claims = {}, links = {}, sourceId = 's' } = made;
  seq++;
  return {
    v: 2,
    id: idOf(seq),
    kind,
    node: nodeId('eu'),
    seq,
    submittedAt: timestampOf(Date.parse(at)),
    body: HASH,
    account: 'acc',
    sourceId,
    sourceSeq: seq,
    sourcePrev: null,
    payloadHash: HASH,
    claims: { channel: 'direct', ...claims },
    links,
  };
}

function clause(needs: readonly FactNeed[], more: Partial<Clause> = {}): Clause {
  return {
    clause: '1',
    requirement: 'r',
    evidence: [{ anyOf: ['decision'], fields: [] }],
    needs: [...needs],
    dutyHolder: ['provider'],
    trigger: 'standing',
    neverChecked: ['content'],
    checkedAt: '2026-11-22',
    appliesFrom: null,
    status: 'in-force',
    numbers: [],
    source: 's',
    check: 'V',
    ...more,
  };
}

const DOCUMENT: FactNeed = {
  anyOf: ['document'],
  where: ['docType=policy'],
  facts: ['docVersion', 'sha256'],
  standing: true,
};
const INCIDENT = { anyOf: ['incident' as const], where: ['criteria=death'], fields: [] };
const TOLD: FactNeed = { anyOf: ['notification'], facts: ['sentAt', 'incidentId'] };

function evidence(asked: Clause, records: readonly AttestationRecord[], more: Partial<EvidenceQuestion> = {}) {
  const question = { ...PERIOD, framework: 'F', systemClass: null, covers: () => true, ...more };
  return clauseEvidence(asked, question, new EvidenceView(question, records, []));
}

function policy(at: string, asserted: Claims['asserted'] = {}, links: Links = {}): AttestationRecord {
  return record('document', {
    at,
    claims: { asserted: { docType: 'policy', docVersion: '1', sha256: HASH, ...asserted }, given: ['docType'] },
    links,
  });
}

function notApplicable(asserted: Claims['asserted'], sourceId = 's', at = '2026-02-01T00:00:00Z'): AttestationRecord {
  return record('decision', {
    at,
    sourceId,
    claims: { eventType: 'NOT_APPLICABLE', framework: 'F', clause: '1', ...(asserted && { asserted }) },
  });
}

const REASONED = {
  reasonGiven: true,
  assertedBy: `hmac-sha256:${'a'.repeat(64)}`,
  reviewDueAt: timestampOf(Date.parse('2027-06-01T00:00:00Z')),
} as const;

test('nothing on record is nothing recorded, and what is missing is named', () => {
  const { evidenceStatus, needs } = evidence(clause([DOCUMENT]), []);
  assert.is(evidenceStatus, 'nothing-recorded');
  assert.is(needs[0]?.missing, 'no document with docType=policy');
});

test('a document of years ago counts while nothing supersedes it and it is valid', () => {
  assert.is(evidence(clause([DOCUMENT]), [policy('2022-01-01T00:00:00Z')]).evidenceStatus, 'recorded');
  const ended = policy('2022-01-01T00:00:00Z', { validUntil: timestampOf(Date.parse('2026-05-01T00:00:00Z')) });
  assert.is(evidence(clause([DOCUMENT]), [ended]).evidenceStatus, 'nothing-recorded');
});

test('what comes after the end of a report changes nothing in it', () => {
  const first = policy('2026-03-01T00:00:00Z');
  const later = policy('2027-03-01T00:00:00Z', { docType: 'none' }, { supersedes: first.id });
  assert.is(evidence(clause([DOCUMENT]), [first, later]).evidenceStatus, 'recorded');
  const within = policy('2026-04-01T00:00:00Z', { docType: 'none' }, { supersedes: first.id });
  assert.is(evidence(clause([DOCUMENT]), [first, within]).evidenceStatus, 'nothing-recorded');
});

test('a lock of 2024 is seen in a report of 2026, until it ends', () => {
  const need: FactNeed = { anyOf: ['retention_lock'], facts: ['retentionPeriodDays>=184'], standing: true };
  const lock = record('retention_lock', { at: '2024-01-01T00:00:00Z', claims: { retentionDays: 1825 } });
  assert.is(evidence(clause([need]), [lock]).evidenceStatus, 'recorded');
  const later = { from: auditDay('2030-01-01'), to: auditDay('2030-12-31') };
  assert.is(evidence(clause([need]), [lock], later).evidenceStatus, 'nothing-recorded');
});

test('an audit that is too old at the end of a report does not count', () => {
  const need: FactNeed = {
    anyOf: ['evaluation'],
    where: ['evalType=bias-audit'],
    facts: ['outcome'],
    standing: true,
    maxAgeDays: 365,
    ageFrom: 'performedAt',
  };
  const audit = (performedAt: string) =>
    record('evaluation', {
      at: '2026-06-01T00:00:00Z',
      claims: {
        asserted: { evalType: 'bias-audit', outcome: 'pass', performedAt: timestampOf(Date.parse(performedAt)) },
      },
    });
  assert.is(evidence(clause([need]), [audit('2026-02-01T00:00:00Z')]).evidenceStatus, 'recorded');
  assert.is(evidence(clause([need]), [audit('2024-02-01T00:00:00Z')]).evidenceStatus, 'partly-recorded');
});

test('without an event no duty arises, and every event is asked for', () => {
  const asked = clause([TOLD], { trigger: 'event', event: INCIDENT });
  assert.is(evidence(asked, []).evidenceStatus, 'no-event-recorded');
  const other = record('incident', { claims: { criteria: ['health'] } });
  assert.is(evidence(asked, [other]).evidenceStatus, 'no-event-recorded', 'no death');
  const [one, two] = [
    record('incident', { claims: { criteria: ['death'] } }),
    record('incident', { claims: { criteria: ['death'] } }),
  ];
  const told = ({ id }: AttestationRecord) =>
    record('notification', { claims: { asserted: { sentAt: timestampOf(0) } }, links: { incident: id } });
  const half = evidence(asked, [one, two, told(one)]);
  assert.is(half.evidenceStatus, 'partly-recorded');
  assert.is(half.needs[0]?.missing, 'notification: of 1 of 2 events');
  assert.is(evidence(asked, [one, two, told(one), told(two)]).evidenceStatus, 'recorded');
});

test('in the place of an incident stands its correction, from when that was recorded', () => {
  const asked = clause([TOLD], { trigger: 'event', event: INCIDENT });
  const first = record('incident', { claims: { criteria: ['death'] } });
  const told = ({ id }: AttestationRecord) =>
    record('notification', { claims: { asserted: { sentAt: timestampOf(0) } }, links: { incident: id } });
  const corrected = (criteria: 'death' | 'health', at: string) =>
    record('incident', { at, claims: { criteria: [criteria] }, links: { supersedes: first.id } });
  const again = corrected('death', '2026-07-01T00:00:00Z');
  assert.is(evidence(asked, [first, again]).evidenceStatus, 'nothing-recorded');
  assert.is(evidence(asked, [first, told(first), again]).evidenceStatus, 'recorded', 'told of the first');
  assert.is(evidence(asked, [first, again, told(again)]).evidenceStatus, 'recorded');
  const lesser = [first, corrected('health', '2026-07-01T00:00:00Z')];
  assert.is(evidence(asked, lesser).evidenceStatus, 'no-event-recorded');
  const later = [first, corrected('health', '2027-07-01T00:00:00Z')];
  assert.is(evidence(asked, later).evidenceStatus, 'nothing-recorded', 'after the end');
});

test('an assertion that a clause does not apply needs a reason, a person and a date of review', () => {
  const whole = notApplicable(REASONED);
  assert.is(evidence(clause([DOCUMENT]), [whole]).evidenceStatus, 'asserted-not-applicable');
  for (const part of ['reasonGiven', 'assertedBy', 'reviewDueAt'] as const) {
    const { [part]: _left, ...rest } = REASONED;
    assert.is(evidence(clause([DOCUMENT]), [notApplicable(rest)]).evidenceStatus, 'nothing-recorded', part);
  }
  const overdue = notApplicable({ ...REASONED, reviewDueAt: timestampOf(Date.parse('2026-03-01T00:00:00Z')) });
  assert.is(evidence(clause([DOCUMENT]), [overdue]).evidenceStatus, 'nothing-recorded', 'its review is overdue');
  const beside = evidence(clause([DOCUMENT]), [whole, policy('2026-03-01T00:00:00Z')]);
  assert.is(beside.evidenceStatus, 'asserted-not-applicable');
  assert.is(beside.recordedNeeds, 1, 'what is recorded all the same stands beside');
  const elsewhere = evidence(clause([DOCUMENT]), [whole], { covers: () => false });
  assert.is(elsewhere.evidenceStatus, 'nothing-recorded');
});

test('a clause that does not apply yet says so, by the class of the system', () => {
  const asked = clause([DOCUMENT], {
    appliesFrom: '2026-08-02',
    appliesFromByClass: { annexIII: '2027-12-02', annexI: '2028-08-02' },
  });
  const held = [policy('2026-03-01T00:00:00Z')];
  assert.is(evidence(asked, held).evidenceStatus, 'recorded');
  assert.is(evidence(asked, held, { systemClass: 'annexIII' }).evidenceStatus, 'not-yet-applicable');
});

test('the class of a system is read from the points of the annexes', () => {
  assert.is(systemClassOf({ annexPoint: ['III(5)(b)'] }), 'annexIII');
  assert.is(systemClassOf({ annexPoint: ['Annex III 5(b)'] }), 'annexIII');
  assert.is(systemClassOf({ annexPoint: ['Annex I, A(11)'] }), 'annexI');
  assert.is(systemClassOf({ annexPoint: ['IV(2)(d)'] }), null);
  assert.is(systemClassOf({ annexPoint: ['I dunno'] }), null);
  assert.is(systemClassOf({ annexPoint: ['I'] }), 'annexI');
  assert.is(systemClassOf({ role: 'gpai-provider' }), 'gpai');
});

test('empty members, empty data and a third party that is none evidence nothing', () => {
  const empty = record('risk_assessment', {
    claims: { given: ['mitigations', 'risksIdentified'], asserted: { emptyMembers: ['mitigations'] } },
  });
  const risk: FactNeed = { anyOf: ['risk_assessment'], facts: ['mitigations'] };
  assert.is(evidence(clause([risk]), [empty]).evidenceStatus, 'partly-recorded');
  const counted = (text: string): FacetTally => {
    const facet = readFacet(text);
    if (facet === undefined) throw new RangeError(text);
    return { facet, count: 1, first: [idOf(1)], last: idOf(1) };
  };
  const vendor = clause([{ anyOf: ['decision'], facts: ['thirdPartyModel=true'] }]);
  const question = { ...PERIOD, framework: 'F', systemClass: null, covers: () => true };
  const status = (asked: Clause, text: string) =>
    clauseEvidence(asked, question, new EvidenceView(PERIOD, [], [counted(text)])).evidenceStatus;
  assert.is(status(vendor, 'decision|DECISION||modelId,thirdPartyModel'), 'partly-recorded');
  assert.is(status(vendor, 'decision|DECISION||modelId,thirdPartyModel,thirdPartyModel=true'), 'recorded');
  const input = clause([{ anyOf: ['decision'], facts: ['inputHash'] }]);
  assert.is(status(input, 'decision|DECISION||inputHash'), 'recorded');
  assert.is(status(input, 'decision|DECISION||emptyData,inputHash'), 'nothing-recorded');
  assert.is(status(input, 'decision|TECH_DOC||inputHash'), 'nothing-recorded', 'events do not count');
});

test('whatever else is recorded, no row is recorded without a record that shows all of its facts', () => {
  const asserted = fc.record(
    {
      docType: fc.constantFrom('policy', 'procedure'),
      docVersion: fc.constant('1'),
      sha256: fc.constant(HASH),
    },
    { requiredKeys: [] },
  );
  const at = fc.integer({ min: 2020, max: 2028 }).map((year) => `${year}-05-01T00:00:00Z`);
  const made = fc.array(fc.record({ at, asserted }), { maxLength: 12 });
  fc.assert(
    fc.property(made, (list) => {
      const records = list.map(({ at: when, asserted: facts }) =>
        record('document', { at: when, claims: { asserted: facts } }),
      );
      const isShown = list.some(
        ({ at: when, asserted: { docType, docVersion, sha256 } }) =>
          when < '2027' && docType === 'policy' && docVersion !== undefined && sha256 !== undefined,
      );
      assert.is(evidence(clause([DOCUMENT]), records).evidenceStatus === 'recorded', isShown);
    }),
    { numRuns: 300 },
  );
});

test.run();
