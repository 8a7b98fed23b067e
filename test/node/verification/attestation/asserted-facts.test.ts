import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { assertedFacts, reviewDateWarnings } from '../../../../node/verification/attestation/asserted-facts.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { timestampOf } from '../../../../protocol/time.ts';

const NOTHING = { event: undefined, adverse: undefined, occurredAt: undefined };

function ofNotApplicable(data: JsonObject): unknown {
  return assertedFacts({ ...NOTHING, event: 'NOT_APPLICABLE', data });
}

test('a decision that asserts nothing has no member for it', () => {
  assert.is(assertedFacts({ ...NOTHING, data: { n: 1 } }), undefined);
  assert.is(
    assertedFacts({ ...NOTHING, event: 'DECISION', data: { reason: 'r', reviewDueAt: '2027-01-01' } }),
    undefined,
  );
  assert.is(ofNotApplicable({ framework: 'EU_AI_ACT' }), undefined);
});

test('time, adversity and the absence of data are signed as they are asserted', () => {
  const occurredAt = timestampOf(1_000);
  assert.equal(assertedFacts({ event: 'DECISION', data: {}, adverse: false, occurredAt }), {
    occurredAt,
    adverse: false,
    emptyData: true,
  });
});

test('of a clause that does not apply it is signed that there is a reason, and when it is looked at again', () => {
  assert.equal(ofNotApplicable({ reason: 'Jane Doe says so', reviewDueAt: '2027-03-01' }), {
    reasonGiven: true,
    reviewDueAt: '2027-03-01T00:00:00.000Z',
  });
  assert.equal(ofNotApplicable({ reviewDueAt: '2027-03-01T12:00:00+02:00' }), {
    reviewDueAt: '2027-03-01T10:00:00.000Z',
  });
  for (const reason of ['', ' \n', 7, null, ['because']]) assert.is(ofNotApplicable({ reason }), undefined);
});

test('a review date that is none is said to be none, and is not signed', () => {
  for (const reviewDueAt of ['soon', '2027-02-30', 7, null]) {
    assert.is(ofNotApplicable({ reviewDueAt }), undefined);
    assert.is(reviewDateWarnings('NOT_APPLICABLE', { reviewDueAt }).length, 1);
    assert.equal(reviewDateWarnings('DECISION', { reviewDueAt }), []);
  }
  assert.equal(reviewDateWarnings('NOT_APPLICABLE', { reviewDueAt: '2027-02-28' }), []);
});

test.run();
