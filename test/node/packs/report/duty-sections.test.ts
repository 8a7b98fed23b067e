import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { incidentSection, retentionSection, reviewSection } from '../../../../node/packs/report/duty-sections.ts';
import { PackTally } from '../../../../node/packs/report/pack-tally.ts';
import type { Asserted } from '../../../../protocol/chain/asserted.ts';
import type { Links } from '../../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
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
