import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CLAUSES, evaluate, LACKS, MEANING, RULE_SET } from '../../../protocol/evidence/rules.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { ReviewOutcome } from '../../../protocol/statement/vocabulary.ts';
import { AT, EU, evaluated, holding, lacks, made, overrideOf, reviewer, shown, shows, US } from './case.ts';

const BOUND = { modelId: 'm', modelVersion: '1', riskLevel: 'high' } as const satisfies Partial<Claims>;

test('T1: a decision alone is an ordered event, and no more', () => {
  const evaluation = evaluated(made({}));
  assert.equal(evaluation.complianceStatus, {
    article12_1: true,
    article12_2: false,
    article12_3b: false,
    article14: false,
  });
  assert.equal(lacks(evaluation, 'article12_2'), ['modelId', 'modelVersion', 'riskLevel-or-confidenceScore']);
});

test('T2: with model, version and risk level it is traceable', () => {
  assert.ok(shows(evaluated(made({ claims: BOUND })), 'article12_2'));
});

test('T3: a model without its version is not', () => {
  const evaluation = evaluated(made({ claims: { modelId: 'm', riskLevel: 'high' } }));
  assert.not(shows(evaluation, 'article12_2'));
  assert.equal(lacks(evaluation, 'article12_2'), ['modelVersion']);
});

test('T4: a confidence score of 0 counts as present', () => {
  assert.ok(shows(evaluated(made({ claims: { modelId: 'm', modelVersion: '1', confidenceScore: 0 } })), 'article12_2'));
});

test('T5: a reference database is named', () => {
  assert.ok(shows(evaluated(made({ claims: { referenceDatabase: [{ id: 'watchlist-v7' }] } })), 'article12_3b'));
});

test('T6: an empty list, or an empty id, names none', () => {
  for (const referenceDatabase of [[], [{ id: '' }], [{ id: '', version: '7' }]]) {
    assert.not(shows(evaluated(made({ claims: { referenceDatabase } })), 'article12_3b'));
  }
});

test('T7: an override of the record is human oversight', () => {
  const record = made({});
  const evaluation = evaluated(record, [overrideOf(record)]);
  assert.equal(shown(evaluation), ['article12_1', 'article12_3d', 'article14']);
  assert.equal(lacks(evaluation, 'article14_5'), ['second-reviewer']);
});

test('T8: an override by another tenant is not', () => {
  const record = made({});
  assert.equal(shown(evaluated(record, [overrideOf(record, {}, { account: 'acc_else' })])), ['article12_1']);
});

test('T9: where the proof of the record does not hold, nothing is shown', () => {
  const record = made({ claims: { ...BOUND, referenceDatabase: [{ id: 'x' }], matched: false } });
  const linked = holding(overrideOf(record), overrideOf(record, { reviewer: reviewer('b') }));
  for (const subject of [{ record, sigValid: false } as const, { record: null, sigValid: true } as const]) {
    const evaluation = evaluate({ ...subject, speaks: true }, linked, AT);
    assert.equal(shown(evaluation), []);
    for (const clause of CLAUSES) assert.equal(lacks(evaluation, clause), ['signature']);
  }
});

test('T10: what the payload says changes nothing', () => {
  const claims = { ...BOUND, referenceDatabase: [{ id: 'x' }] };
  const flags = (data: { readonly q?: number }) => shown(evaluated(made({ claims, payload: { sourceId: 's', data } })));
  assert.equal(flags({}), flags({ q: 1 }));
  assert.equal(flags({}), ['article12_1', 'article12_2', 'article12_3b']);
});

test('T11: two overrides by one reviewer are one person, by two reviewers two', () => {
  const record = made({});
  const first = overrideOf(record);
  assert.not(shows(evaluated(record, [first, overrideOf(record)]), 'article14_5'));
  assert.ok(shows(evaluated(record, [first, overrideOf(record, { reviewer: reviewer('b') })]), 'article14_5'));
});

test('T12: a session that has not ended is no period of use yet', () => {
  const start = made({ kind: 'session_start' }, 1);
  const record = made({ links: { session: start.id } }, 10);
  const open = evaluated(record, [start]);
  assert.not(shows(open, 'article12_3a'));
  assert.equal(lacks(open, 'article12_3a'), ['session_end']);
  const end = made({ kind: 'session_end', links: { session: start.id } }, 20);
  assert.ok(shows(evaluated(record, [end, start]), 'article12_3a'));
});

test('a session counts with both ends, of one account and source, around the record', () => {
  const start = made({ kind: 'session_start' }, 5);
  const session = start.id;
  const end = made({ kind: 'session_end', links: { session } }, 15);
  const flag = (seconds: number, ...linked: readonly AttestationRecord[]) =>
    lacks(evaluated(made({ links: { session } }, seconds), linked), 'article12_3a');
  assert.equal(flag(5, start, end), []);
  assert.equal(flag(15, start, end), []);
  assert.equal(flag(4, start, end), ['time-within-session']);
  assert.equal(flag(16, start, end), ['time-within-session']);
  assert.equal(flag(16, start, end, made({ kind: 'session_end', links: { session } }, 16)), []);
  assert.equal(flag(10), ['session_start', 'session_end']);
  assert.equal(flag(10, end), ['session_start']);
  assert.equal(flag(10, start, made({ kind: 'session_end', links: { session }, sourceId: 'else' }, 15)), [
    'session_end',
  ]);
  assert.equal(flag(10, { ...start, sourceId: 'else' }, end), ['session_start']);
  assert.equal(flag(10, { ...start, kind: 'decision' }, end), ['session_start']);
  assert.equal(flag(10, start, { ...end, kind: 'decision' }), ['session_end']);
  assert.equal(lacks(evaluated(made({}), [start, end]), 'article12_3a'), ['session']);
});

test('start and end of a session lie in it', () => {
  const start = made({ kind: 'session_start' }, 5);
  const end = made({ kind: 'session_end', links: { session: start.id } }, 15);
  assert.equal(lacks(evaluated(start, []), 'article12_3a'), ['session_end']);
  assert.equal(lacks(evaluated(start, [end]), 'article12_3a'), []);
  assert.equal(lacks(evaluated(end, [start]), 'article12_3a'), []);
  assert.equal(lacks(evaluated(end, []), 'article12_3a'), ['session_start']);
});

test('a match needs its input; of no match there is none to keep', () => {
  const record = made({ claims: { matched: true } });
  assert.ok(shows(evaluated(record), 'article12_3c'));
  const { inputHash: _, ...bare } = record.claims;
  assert.equal(lacks(evaluated({ ...record, claims: bare }), 'article12_3c'), ['inputHash']);
  assert.ok(shows(evaluated({ ...record, claims: { ...bare, matched: false } }), 'article12_3c'));
  assert.equal(lacks(evaluated(made({})), 'article12_3c'), ['matched']);
});

test('only an override of this record, by a person, is oversight of it', () => {
  const record = made({});
  const override = overrideOf(record);
  const { reviewer: _, ...nobody } = override.claims;
  for (const other of [
    overrideOf(made({})),
    { ...override, kind: 'decision' as const },
    { ...override, claims: nobody },
    { ...override, links: { related: [record.id] } },
  ]) {
    assert.equal(shown(evaluated(record, [other])), ['article12_1']);
  }
});

test('an override is itself human oversight, and nobody overrode it', () => {
  const override = overrideOf(made({}));
  assert.equal(shown(evaluated(override)), ['article12_1', 'article14']);
  const { reviewer: _, ...nobody } = override.claims;
  assert.equal(shown(evaluated({ ...override, claims: nobody })), ['article12_1']);
});

test('an override of what was not found counts for nothing, its own flag included', () => {
  assert.equal(shown(evaluated({ ...overrideOf(made({})), links: {} })), ['article12_1']);
});

test('two persons count by their outcomes, and are told apart within one node alone', () => {
  const record = made({});
  const by = (letter: string, reviewOutcome: ReviewOutcome, node = EU) =>
    overrideOf(record, { reviewer: reviewer(letter), reviewOutcome }, {}, node);
  const { reviewOutcome: _, ...unsaidClaims } = by('b', 'confirmed').claims;
  const unsaid = { ...by('b', 'confirmed'), claims: unsaidClaims };
  const both = (...overrides: readonly AttestationRecord[]) => shows(evaluated(record, overrides), 'article14_5');
  assert.ok(both(by('a', 'overridden'), by('b', 'reversed')));
  assert.not(both(by('a', 'disregarded'), by('b', 'stopped')));
  assert.not(both(by('a', 'confirmed'), unsaid));
  assert.not(both(by('a', 'confirmed'), by('b', 'confirmed', US)), 'the same person may stand behind both');
  assert.ok(both(by('a', 'confirmed', US), by('a', 'confirmed'), by('b', 'confirmed', US)));
  assert.equal(lacks(evaluated(record, [by('a', 'stopped')]), 'article14_5'), ['reviewOutcome', 'second-reviewer']);
  assert.equal(lacks(evaluated(record), 'article14_5'), ['human_override', 'second-reviewer']);
});

test('every clause has its reason, and says the same as its flag', () => {
  const evaluation = evaluated(made({ claims: BOUND }));
  const { reasons, ruleSet, evaluatedAt, meaning } = evaluation.complianceDetail;
  assert.equal(
    reasons.map(({ key }) => key),
    [...CLAUSES],
  );
  for (const { key, satisfied, missing } of reasons) {
    assert.is(satisfied, shows(evaluation, key));
    assert.is(satisfied, missing.length === 0);
    assert.ok(missing.every((lack) => LACKS.includes(lack)));
  }
  assert.equal([ruleSet, evaluatedAt, meaning], [RULE_SET, AT, MEANING]);
  assert.is(evaluate({ record: null, sigValid: false, speaks: false }, [], null).complianceDetail.evaluatedAt, null);
});

test.run();
