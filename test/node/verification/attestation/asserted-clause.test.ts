import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  assertedClause,
  assertedClauseWarnings,
  tieredDraft,
} from '../../../../node/verification/attestation/decision-drafts.ts';

const known = { framework: 'EU_AI_ACT', clause: '12(3)(a)', because: 'no biometric identification' };

test('a clause of the catalogue is named, word for word', () => {
  const named = { framework: 'EU_AI_ACT', clause: '12(3)(a)' };
  assert.equal(assertedClause('NOT_APPLICABLE', known), named);
  assert.equal(assertedClauseWarnings('NOT_APPLICABLE', known), []);
});

test('only the event that is about clauses names one', () => {
  for (const event of [undefined, 'DECISION', 'TECH_DOC']) {
    assert.is(assertedClause(event, known), undefined);
    assert.equal(assertedClauseWarnings(event, known), []);
  }
});

test('text that is no clause stays out of the claims, and the caller is told', () => {
  for (const data of [
    {},
    { framework: 'EU_AI_ACT' },
    { framework: 'EU_AI_ACT', clause: '999' },
    { framework: '__proto__', clause: 'constructor' },
    { framework: ['EU_AI_ACT'], clause: '14' },
    { framework: 'EU_AI_ACT', clause: 'Jane Doe, born 1970' },
  ]) {
    assert.is(assertedClause('NOT_APPLICABLE', data), undefined, JSON.stringify(data));
    assert.is(assertedClauseWarnings('NOT_APPLICABLE', data).length, 1);
  }
});

test('the claims of a decision hold the clause, and not the reason', () => {
  const complianceMeta = { serviceEventType: 'NOT_APPLICABLE' };
  const request = { sourceId: 'loans', data: known, complianceMeta };
  const { claims } = tieredDraft('acme', { request, body: { ...request }, additional: new Map() });
  assert.equal([claims.eventType, claims.framework, claims.clause], ['NOT_APPLICABLE', 'EU_AI_ACT', '12(3)(a)']);
  assert.not.match(JSON.stringify(claims), /biometric/);
});

test.run();
