import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  damagedOutcomes,
  listChecks,
  type Outcomes,
  summaryOf,
  verdictOf,
  warningsOf,
} from '../../../../node/services/audits/auditor.ts';
import { judgeOtherNodes, type OtherAnswer, type Result } from '../../../../node/services/audits/other-nodes.ts';
import { warned } from '../../../../node/services/audits/outcome.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS } from '../../../../protocol/api/example-ids.ts';
import {
  CHECK_RESULTS,
  type CheckResult,
  MANDATORY_CHECKS,
  OPTIONAL_CHECKS,
} from '../../../../protocol/api/verify-audit.ts';
import { isSha256Hash } from '../../../../protocol/hash.ts';
import { nodeId, recordId } from '../../../../protocol/ids.ts';
import { isConsensusTimestamp, timestampOf } from '../../../../protocol/time.ts';
import { fc } from '../../../fixtures/properties.ts';

const keyId = EXAMPLE_HASH;
const consensusTimestamp = '1795253411.204817003';
if (!isSha256Hash(keyId) || !isConsensusTimestamp(consensusTimestamp)) throw new Error('unreachable');
const own: Result = {
  attestationId: recordId(EXAMPLE_IDS.decision),
  verified: true,
  status: 'confirmed',
  submittedAt: timestampOf(0),
  recordKind: 'decision',
  keyId,
  consensusTimestamp,
};
const same: OtherAnswer = { node: nodeId('us'), result: { ...own } };
const other: OtherAnswer = { node: nodeId('ca'), result: { ...own, verified: false } };
const none: OtherAnswer = { node: nodeId('jp'), result: null };

function outcomes(result: (name: string) => CheckResult): Outcomes {
  const all = Object.entries(damagedOutcomes()).map(([name]) => [name, { result: result(name), detail: name }]);
  return { ...damagedOutcomes(), ...Object.fromEntries(all) };
}

test('a check that passes with a warning, and an optional one that fails, are warned of', () => {
  assert.equal(warningsOf(listChecks(outcomes(() => 'pass'))), []);
  assert.equal(warningsOf(listChecks(outcomes(() => 'skipped'))), []);
  const failing = listChecks(outcomes(() => 'fail'));
  assert.equal(
    warningsOf(failing),
    OPTIONAL_CHECKS.map((name) => `${name}: ${name}`),
  );
  const late = listChecks({ ...outcomes(() => 'pass'), 'consensus-time': warned('a day later') });
  assert.equal([warningsOf(late), verdictOf(late)], [['consensus-time: a day later'], 'pass']);
});

test('a mandatory check that fails is a fail, one that is skipped leaves it open, and the others have no say', () => {
  const names = [...MANDATORY_CHECKS, ...OPTIONAL_CHECKS];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...CHECK_RESULTS), { minLength: names.length, maxLength: names.length }),
      (drawn) => {
        const checks = listChecks(outcomes((name) => drawn[names.findIndex((known) => known === name)] ?? 'fail'));
        assert.equal(
          checks.map(({ name, result }) => [name, result]),
          names.map((name, i) => [name, drawn[i]]),
        );
        const mandatory = new Set(drawn.slice(0, MANDATORY_CHECKS.length));
        const expected = mandatory.has('fail') ? 'fail' : mandatory.has('skipped') ? 'inconclusive' : 'pass';
        assert.is(verdictOf(checks), expected);
        assert.match(
          summaryOf(checks),
          { fail: 'these fail', inconclusive: 'could not be made', pass: 'All 6' }[expected],
        );
      },
    ),
  );
});

test('what cannot be read any more fails', () => {
  assert.is(verdictOf(listChecks(damagedOutcomes())), 'fail');
});

test('the majority of the nodes that answer counts: one that lies is outvoted and named', () => {
  const cases: [answers: OtherAnswer[], result: CheckResult, detail: string][] = [
    [[], 'skipped', 'there is no other node'],
    [[none], 'skipped', 'no answer to compare from jp'],
    [[same, none], 'pass', 'the same by us'],
    [[same, same, other], 'pass', 'the same by us, us; otherwise by ca'],
    [[same, other], 'skipped', 'the same by us; otherwise by ca'],
    [[same, other, other], 'fail', 'the same by us; otherwise by ca, ca'],
    [[none, other], 'fail', 'otherwise by ca'],
  ];
  for (const [answers, result, detail] of cases) assert.equal(judgeOtherNodes(own, answers), { result, detail });
});

test('another time, key or kind is another result; before it is confirmed here nothing is compared', () => {
  const later = '1795253411.204817004';
  if (!isConsensusTimestamp(later)) throw new Error('unreachable');
  for (const change of [
    { consensusTimestamp: later },
    { keyId: null },
    { recordKind: 'audit' },
    { submittedAt: null },
  ]) {
    assert.is(judgeOtherNodes(own, [{ ...same, result: { ...own, ...change } }]).result, 'fail');
  }
  const early: Result = { ...own, verified: false, status: 'anchored', consensusTimestamp: null };
  assert.is(judgeOtherNodes(early, [same]).result, 'skipped');
});

test.run();
