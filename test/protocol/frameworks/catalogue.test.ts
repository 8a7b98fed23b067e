import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogue, clauseOf, frameworkOf, readCatalogue } from '../../../protocol/frameworks/catalogue.ts';
import type { Clause } from '../../../protocol/frameworks/catalogue-shape.ts';
import { alternativesOf } from '../../../protocol/frameworks/condition.ts';
import { MAPPED_EVENTS } from '../../../protocol/frameworks/event-types.ts';
import { EVIDENCE_KINDS, visibility } from '../../../protocol/frameworks/evidence-kinds.ts';
import { RETENTION_STEPS } from '../../../protocol/frameworks/fields-shown.ts';
import { AssertedShape } from '../../../protocol/chain/asserted.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { parseJson } from '../../../protocol/json/parse.ts';

/** Content of each published version: who changes the data gives it a new version, and both a new line here. */
const PUBLISHED: Readonly<Record<string, string>> = {
  '2026-11-21.2': '1df19cfca02f71a47a542f7bb8bc3f13941f5ab38b7bbffc911f292d7a321915',
  '2026-11-26.1': 'a7b78224b195be85f1ba5700782c0d726c69f95e00bf3e4fa663e4ffe9efbbb7',
};

const everyClause = catalogue.frameworks.flatMap(({ id, clauses }) => clauses.map((clause) => ({ id, clause })));
const namesOf = (id: string) => frameworkOf(id)?.clauses.map(({ clause }) => clause) ?? [];

function conditionsOf({ evidence }: Clause) {
  return evidence.flatMap(({ anyOf, where = [], fields }) =>
    [...where, ...fields].flatMap((condition) => alternativesOf(condition).map(({ field }) => ({ anyOf, field }))),
  );
}

test('a version of the catalogue keeps its content', () => {
  const digest = createHash('sha256')
    .update(canonicalize(parseJson(JSON.stringify(catalogue))))
    .digest('hex');
  assert.is(digest, PUBLISHED[catalogue.catalogueVersion]);
});

test('rows that were published keep what evidences them under evidence-rules/1', () => {
  const path = join(import.meta.dirname, '../../fixtures/evidence-rules-1.json');
  for (const [id, clauses] of Object.entries(parseJson(readFileSync(path, 'utf8')) ?? {})) {
    for (const [clause, evidence] of Object.entries(Object(clauses))) {
      assert.equal(clauseOf(id, clause)?.evidence, evidence, `${id} ${clause}`);
    }
  }
});

test('needs of evidence-rules/2 ask for signed facts that their kinds have, and for no event of a decision', () => {
  const signed = new Set(Object.keys(AssertedShape.properties));
  for (const { id, clause } of everyClause) {
    for (const { anyOf, where = [], facts } of clause.needs) {
      const name = `${id} ${clause.clause}`;
      assert.not.ok(
        anyOf.some((kind) => kind.startsWith('event:')),
        name,
      );
      assert.not.equal(facts, ['submittedAt'], name);
      assert.ok(!facts.includes('thirdPartyModel'), name);
      for (const { field } of [...where, ...facts].flatMap(alternativesOf)) {
        assert.ok(
          signed.has(field) || anyOf.some((kind) => visibility(kind, field) !== undefined),
          `${name}: ${field}`,
        );
      }
    }
    assert.is(clause.trigger === 'event', clause.event !== undefined, clause.clause);
  }
});

test('every framework of the service is there', () => {
  assert.equal(
    catalogue.frameworks.map(({ id }) => id),
    [
      'EU_AI_ACT',
      'ISO_42001',
      'NIST_AI_RMF',
      'US_BANK_MRM',
      'US_BANK_MRM_2011',
      'US_CONSUMER_CREDIT',
      'US_STATE',
      'FINRA',
      'SEC_17A4',
      'MIFID_II',
    ],
  );
});

test('every article and annex of the EU AI Act that the service promises has a clause', () => {
  const text = ` ${namesOf('EU_AI_ACT').join(' ')} `;
  for (const article of ['9', '10', '11', '12', '13', '14', '15', '17', '26', '49', '72', '73']) {
    assert.match(text, new RegExp(` ${article}[ (]`));
  }
  for (const annex of ['IV', 'XI', 'XII']) assert.match(text, new RegExp(` Annex ${annex} `));
});

test('both editions of the bank guidance and both acts of Colorado say where they stand', () => {
  assert.is(frameworkOf('US_BANK_MRM')?.edition, '2026');
  assert.ok(frameworkOf('US_BANK_MRM_2011')?.clauses.every(({ status }) => status === 'rescinded'));
  assert.is(clauseOf('US_STATE', 'Colorado SB 24-205')?.status, 'stayed');
  assert.is(clauseOf('US_STATE', 'Colorado SB 26-189, C.R.S. 6-1-1701..1709')?.appliesFrom, '2027-01-01');
});

test('the statutory clocks of serious incidents are 15, 2 and 10 days', () => {
  const days = ['73(2)', '73(3)', '73(4)'].map((name) => clauseOf('EU_AI_ACT', name)?.numbers[0]?.value);
  assert.equal(days, [15, 2, 10]);
});

test('a framework and a clause come once, and both read as part of a path or a query', () => {
  const names = everyClause.map(({ id, clause }) => `${id} ${clause.clause}`);
  assert.is(new Set(names).size, names.length);
  assert.is(new Set(catalogue.frameworks.map(({ id }) => id)).size, catalogue.frameworks.length);
  for (const { clause } of everyClause) assert.match(clause.clause, /^[\w .,/()&:+-]+$/);
});

test('every clause asks only for fields that its kinds have', () => {
  for (const { id, clause } of everyClause) {
    for (const { anyOf, field } of conditionsOf(clause)) {
      const seen = anyOf.filter((kind) => visibility(kind, field) !== undefined);
      assert.ok(seen.length > 0, `${id} ${clause.clause}: no ${anyOf.join(' or ')} has ${field}`);
    }
  }
});

test('every kind of a need can show something of what it asks for', () => {
  for (const { id, clause } of everyClause) {
    for (const { anyOf, fields } of clause.evidence) {
      for (const kind of anyOf) {
        const some = fields.flatMap(alternativesOf).some(({ field }) => visibility(kind, field) !== undefined);
        assert.ok(fields.length === 0 || some, `${id} ${clause.clause}: ${kind} has none of ${fields.join(', ')}`);
      }
    }
  }
});

test('a need that is not optional asks for something', () => {
  for (const { id, clause } of everyClause) {
    for (const { fields, optional } of clause.evidence) {
      assert.ok(optional === true || fields.length > 0, `${id} ${clause.clause}`);
    }
  }
});

test('periods of locks are steps that a lock can show', () => {
  const steps = new Set<number>(RETENTION_STEPS);
  for (const { clause } of everyClause) {
    for (const condition of clause.evidence.flatMap(({ fields }) => fields)) {
      const days = /^retentionPeriodDays>=(\d+)$/.exec(condition)?.[1];
      if (days !== undefined) assert.ok(steps.has(Number(days)), condition);
    }
  }
});

test('every event type is mapped somewhere', () => {
  const kinds = new Set(everyClause.flatMap(({ clause }) => clause.evidence.flatMap(({ anyOf }) => anyOf)));
  for (const event of MAPPED_EVENTS) assert.ok(kinds.has(`event:${event}`), event);
});

test('every kind of record is mapped somewhere, but for those about the world outside the AI system', () => {
  const kinds = new Set(everyClause.flatMap(({ clause }) => clause.evidence.flatMap(({ anyOf }) => anyOf)));
  const unmapped = EVIDENCE_KINDS.filter((kind) => !kinds.has(kind));
  assert.equal(unmapped, ['fact', 'reg_item', 'wallet_record', 'agent_record', 'counterparty_check']);
});

test('nothing in the catalogue calls anybody compliant', () => {
  assert.not.match(JSON.stringify(catalogue), /complian/i);
});

test('data of another shape is refused', () => {
  const [first, ...others] = catalogue.frameworks;
  assert.ok(first !== undefined);
  const [clause] = first.clauses;
  assert.ok(clause !== undefined);
  const withClause = (changed: object) => ({
    ...catalogue,
    frameworks: [{ ...first, clauses: [{ ...clause, ...changed }] }, ...others],
  });
  assert.is(readCatalogue(withClause({})).frameworks.length, catalogue.frameworks.length);
  for (const changed of [
    { evidence: [] },
    { evidence: [{ anyOf: ['event:NO_SUCH_EVENT'], fields: [] }] },
    { evidence: [{ anyOf: ['decision'], fields: ['>=5'] }] },
    { evidence: [{ anyOf: ['decision'], fields: [], optional: false }] },
    { status: 'compliant' },
    { check: 'X' },
    { appliesFrom: '2027' },
    { numbers: [{ what: 'keep', value: 5, unit: 'moons', ref: 'x' }] },
    { more: 1 },
  ]) {
    assert.throws(() => readCatalogue(withClause(changed)), /\/frameworks\/0/, JSON.stringify(changed));
  }
});

test.run();
