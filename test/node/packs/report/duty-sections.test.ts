import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { incidentSection, retentionSection, reviewSection } from '../../../../node/packs/report/duty-sections.ts';
import { PackTally } from '../../../../node/packs/report/pack-tally.ts';
import type { Asserted } from '../../../../protocol/chain/asserted.ts';
import type { Links } from '../../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { objectId } from '../../../../protocol/object-ids.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { recordOf } from '../../governance/records.ts';
import { QUESTION } from './pack-question.ts';

function tallyOf(records: readonly AttestationRecord[], maxLookedAt?: number): PackTally {
  const tally = new PackTally(QUESTION, [], maxLookedAt);
  for (const record of records) tally.take(record, record.body);
  return tally;
}

function notification(asserted: Asserted, links: Links): AttestationRecord {
  return recordOf({ kind: 'notification', claims: { channel: 'direct', asserted }, links });
}

test('a notification that another one replaced reports no incident', () => {
  const incident = recordOf({ kind: 'incident', claims: { channel: 'direct', severity: 'serious' } });
  const told = notification({ to: 'authority', reportType: 'final' }, { incident: incident.id });
  const correction = notification(
    { to: 'provider', reportType: 'initial' },
    { incident: incident.id, supersedes: told.id },
  );
  const rowOf = (records: readonly AttestationRecord[]) =>
    incidentSection(QUESTION, tallyOf(records)).tables[0]?.rows[0]?.slice(-2);
  assert.equal(rowOf([incident, told]), ['notified', told.id]);
  assert.equal(rowOf([incident, told, correction]), ['overdue', correction.id]);
});

test('a clock that goes on when the period ends is not overdue in a pack that is made later', () => {
  const record = recordOf({ kind: 'incident', claims: { channel: 'direct', severity: 'serious' } });
  const incident = { ...record, submittedAt: timestampOf(Date.UTC(2026, 11, 30)) };
  const asked = (asOf: number) => ({ ...QUESTION, asOf: timestampOf(asOf) });
  const stateOf = (asOf: number) => incidentSection(asked(asOf), tallyOf([incident])).tables[0]?.rows[0]?.[5];
  // It may have been reported in January, of which the pack knows nothing.
  assert.is(stateOf(Date.UTC(2027, 1, 1)), 'open');
  assert.match(incidentSection(asked(Date.UTC(2027, 1, 1)), tallyOf([])).paragraphs.join(), 'As of 2027-01-01');
  assert.match(incidentSection(asked(Date.UTC(2026, 11, 31)), tallyOf([])).paragraphs.join(), 'As of 2026-12-31');
});

test('the release of a legal hold is no lock, and the hold that it ends is shown as released', () => {
  const [held, other] = [1825, 3653].map((retentionDays) =>
    recordOf({ kind: 'retention_lock', claims: { channel: 'direct', legalHold: true, retentionDays, scope: ['all'] } }),
  );
  assert.ok(held && other);
  const release = recordOf({
    kind: 'retention_lock',
    claims: { channel: 'direct', legalHold: false, scope: ['all'] },
    links: { lock: held.id },
  });
  const [locks, releases] = retentionSection(QUESTION, tallyOf([held, other, release])).tables;
  assert.equal(
    locks?.rows.map((row) => row[0]),
    [held, other].map(({ id }) => objectId('lock', id)),
  );
  const [first = '', second] = locks?.rows.map((row) => row.at(-1)) ?? [];
  assert.match(first, /^20\d\d-/);
  assert.is(second, 'legal hold, until released');
  assert.equal(
    releases?.rows.map((row) => [row[0], row.at(-1)]),
    [[objectId('lock', held.id), release.id]],
  );
});

test('a section says so where there are more records of its kinds than are looked at', () => {
  const kinds = ['incident', 'notification', 'human_override', 'retention_lock'] as const;
  const cut = tallyOf(
    kinds.map((kind) => recordOf({ kind })),
    0,
  );
  for (const [section, named] of [
    [incidentSection, 'incident, notification'],
    [reviewSection, 'human_override'],
    [retentionSection, 'retention_lock'],
  ] as const) {
    assert.match(section(QUESTION, cut).paragraphs.join('\n'), `and there are more: ${named}.`);
    assert.not.match(section(QUESTION, tallyOf([])).paragraphs.join('\n'), 'there are more');
  }
});

test.run();
