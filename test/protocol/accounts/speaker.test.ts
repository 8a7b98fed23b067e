import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isAccountVersion,
  isMadeElsewhere,
  type PlacedRecord,
  SILENT,
  standingOf,
} from '../../../protocol/accounts/speaker.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { HOME_ACCOUNT, versionDraft } from '../../fixtures/account-statement.ts';
import { fc } from '../../fixtures/properties.ts';
import { EU, made, US } from '../evidence/case.ts';

const SG = nodeId('sg');
const NAMES_US = version(1, ['eu', 'us']);
const NAMES_SG = version(2, ['eu', 'sg']);

function version(number: number, nodes: readonly string[], by = EU): AttestationRecord {
  return made(versionDraft(number, nodes), 10, by);
}

function review(node = US, account = HOME_ACCOUNT): AttestationRecord {
  return made({ kind: 'human_override', account }, 20, node);
}

function at(record: AttestationRecord, index: number | null): PlacedRecord {
  return { record, index };
}

const said = (record: AttestationRecord) => ({ version: record.claims.version, id: record.id });

test('the home of an account speaks for it, and needs no statement', () => {
  for (const versions of [[], [at(version(1, ['us']), 1)]]) {
    assert.equal(standingOf(at(review(EU), 5), versions), { speaks: true, statement: null });
    assert.equal(standingOf(at(review(EU), null), versions), { speaks: true, statement: null });
  }
});

test('another node speaks where the newest version before its record names it, and the answer says which that is', () => {
  const versions = [at(NAMES_US, 3), at(NAMES_SG, 7)];
  assert.equal(standingOf(at(review(US), 5), versions), { speaks: true, statement: said(NAMES_US) });
  assert.equal(standingOf(at(review(SG), 5), versions), { speaks: false, statement: said(NAMES_US) });
  assert.equal(standingOf(at(review(US), 9), versions), { speaks: false, statement: said(NAMES_SG) });
  assert.equal(standingOf(at(review(SG), 9), versions), { speaks: true, statement: said(NAMES_SG) });
});

test('before the first version, and at its own place, no version counts', () => {
  assert.equal(standingOf(at(review(US), 2), [at(NAMES_US, 3)]), SILENT);
  assert.equal(standingOf(at(review(US), 3), [at(NAMES_US, 3)]), SILENT);
});

test('a record that is not decided comes after every version, and a version that is not decided says nothing', () => {
  const versions = [at(NAMES_US, 3), at(NAMES_SG, 7)];
  assert.equal(standingOf(at(review(US), null), versions), { speaks: false, statement: said(NAMES_SG) });
  assert.equal(standingOf(at(review(US), null), [at(NAMES_US, 3), at(NAMES_SG, null)]).speaks, true);
  assert.equal(standingOf(at(review(US), null), [at(NAMES_US, null)]), SILENT);
});

test('a version that another node made, of another account, or of another kind, says nothing', () => {
  const others = [
    version(9, ['us'], US),
    made(versionDraft(9, ['us'], 'acc_us_demo'), 10, US),
    made(versionDraft(9, ['us'], 'acc_eu_other'), 10),
    made({ ...versionDraft(9, ['us']), kind: 'decision' }),
    made({ kind: 'account', account: HOME_ACCOUNT }),
  ];
  for (const other of others) {
    const found = standingOf(at(review(US), 5), [at(other, 1)]);
    assert.equal(found, SILENT, JSON.stringify(other.claims));
  }
  assert.equal(others.map(isAccountVersion), [false, true, true, false, false]);
});

test('an account that names no home has no statement, and is nowhere made elsewhere', () => {
  const record = review(US, 'x402:payers');
  assert.is(isMadeElsewhere(record), false);
  assert.equal(standingOf(at(record, 5), [at(made(versionDraft(1, ['us'], 'x402:payers')), 1)]), SILENT);
});

test('whatever the order of decisions, it is the greatest version among those before the record that decides', () => {
  const anyVersion = fc.record({
    version: fc.integer({ min: 1, max: 6 }),
    nodes: fc.uniqueArray(fc.constantFrom('eu', 'us', 'sg'), { minLength: 1 }),
    index: fc.option(fc.integer({ min: 0, max: 12 })),
  });
  let speaking = 0;
  fc.assert(
    fc.property(fc.array(anyVersion, { maxLength: 6 }), fc.option(fc.integer({ min: 0, max: 12 })), (drafts, index) => {
      const versions = drafts.map((draft) => at(version(draft.version, draft.nodes), draft.index));
      const before = versions.filter((one) => one.index !== null && one.index < (index ?? Infinity));
      const greatest = Math.max(...before.map(({ record }) => record.claims.version ?? 0));
      const found = standingOf(at(review(US), index), versions);
      if (before.length === 0) assert.equal(found, SILENT);
      else {
        assert.is(found.statement?.version, greatest);
        const newest = before.find(({ record }) => record.id === found.statement?.id);
        assert.is(found.speaks, newest?.record.claims.nodes?.includes(US));
      }
      speaking += Number(found.speaks);
      const reversed = standingOf(at(review(US), index), versions.toReversed());
      assert.equal(reversed, found, 'in whatever order they are shown');
    }),
  );
  assert.ok(speaking > 0);
});

test.run();
