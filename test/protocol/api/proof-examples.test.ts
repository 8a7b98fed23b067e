import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  BUNDLE_EXAMPLE,
  BUNDLE_VERDICT_EXAMPLE,
  BundleAnswerShape,
  BundleVerdictShape,
} from '../../../protocol/api/bundles.ts';
import { STATUS_EXAMPLE, StatusAnswerShape } from '../../../protocol/api/status.ts';
import { VERIFY_EXAMPLE, VerifyAnswerShape } from '../../../protocol/api/verify.ts';
import { FACT_KEYS } from '../../../protocol/evidence/evidence-shape.ts';
import { CLAUSES } from '../../../protocol/evidence/rules.ts';
import { isTimestamp, timestampOfConsensus, isConsensusTimestamp } from '../../../protocol/time.ts';
import { shapeCheck } from '../../node/http/answer-shape.ts';

test('the examples of proofs, verdicts and statuses are of their schemas, and nothing else is', () => {
  const pairs = [
    [BundleAnswerShape, BUNDLE_EXAMPLE],
    [BundleVerdictShape, BUNDLE_VERDICT_EXAMPLE],
    [StatusAnswerShape, STATUS_EXAMPLE],
    [VerifyAnswerShape, VERIFY_EXAMPLE],
  ] as const;
  for (const [shape, example] of pairs) {
    const check = shapeCheck(shape);
    check(example);
    assert.throws(() => check({ ...example, extra: 1 }));
  }
});

test('the example of a verdict agrees with itself', () => {
  const { complianceStatus, complianceDetail, confirmedAt, consensusTimestamp } = VERIFY_EXAMPLE;
  const flags = new Map<string, unknown>(Object.entries({ ...complianceStatus, ...complianceDetail }));
  assert.equal(
    complianceDetail.reasons.map(({ key }) => key),
    [...CLAUSES],
  );
  for (const { key, satisfied, missing } of complianceDetail.reasons) {
    assert.is(flags.get(key), satisfied);
    assert.is(missing.length === 0, satisfied);
  }
  const { facts, eventTime } = VERIFY_EXAMPLE.evidence;
  assert.equal(
    facts.map(({ key }) => key),
    [...FACT_KEYS],
  );
  for (const { state, missing } of facts) assert.is(missing.length === 0, state === 'recorded');
  const lagMs = Date.parse(eventTime.recorded) - Date.parse(eventTime.asserted);
  assert.equal([eventTime.recorded, eventTime.lagSeconds * 1000], [VERIFY_EXAMPLE.submittedAt, lagMs]);
  assert.ok(isConsensusTimestamp(consensusTimestamp) && isTimestamp(confirmedAt));
  assert.is(timestampOfConsensus(consensusTimestamp), confirmedAt);
});

test.run();
