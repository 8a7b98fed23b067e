import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import {
  type Covered,
  eventOfScope,
  lastRecordEnd,
  lockEnd,
  NARROW_SCOPES,
  periodOf,
  recordEnd,
  scopesCovering,
} from '../../../protocol/compliance/retention.ts';
import type { LockScope } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { LOCK_PROJECTIONS } from '../../../node/governance/lock-tables.ts';
import { Locks } from '../../../node/governance/locks.ts';
import { KeyedLock } from '../../../node/concurrency/keyed-lock.ts';
import { Store } from '../../../node/store/store.ts';
import { fc } from '../../fixtures/properties.ts';
import { until } from '../../fixtures/until.ts';
import { temporaryDirectory } from '../anchoring/anchoring-node.ts';
import { recordOf } from './records.ts';

const NOBODY_ELSE = { over: async () => ({ holds: [], isWhole: true }) };

test('work on the same sources runs one after the other, in whichever order each names them', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const locks = new Locks(store, new KeyedLock(), NOBODY_ELSE);
  const [one, two] = ['one', 'two'].map((sourceId) => ({ account: 'acc', sourceId }));
  if (one === undefined || two === undefined) throw new Error('two sources');
  let [at, most, done] = [0, 0, 0];
  const work = async (): Promise<void> => {
    most = Math.max(most, ++at);
    await Promise.resolve();
    at--;
  };
  for (const sources of [[one, two], [two, one], [one], [two, two]]) {
    void locks.alone(sources, work).then(() => void done++);
  }
  await until('all of it', () => done === 4);
  assert.ok(most <= 2, 'of each source one at a time');
});

const NARROW: readonly LockScope[] = [...NARROW_SCOPES, 'event:DECISION', 'event:TECH_DOC', 'event:TECH_DOC_2'];
const RECORDS: readonly Covered[] = [
  ...['DECISION', 'TECH_DOC', 'TECH_DOC_2', 'OTHER'].map((event) => ({ kind: 'decision' as const, event })),
  ...(['document', 'notice', 'session_start', 'human_override'] as const).map((kind) => ({ kind })),
];
const placed = fc.record({
  scope: fc.oneof(
    fc.constant<LockScope[]>(['all']),
    fc.uniqueArray(fc.constantFrom<LockScope>(...NARROW), { minLength: 1, maxLength: 4 }),
  ),
  retentionDays: fc.integer({ min: 1825, max: 36_525 }),
  at: fc.integer({ min: 0, max: 4_000 }),
  ahead: fc.option(fc.integer({ min: -9_000, max: 3_653 }), { nil: undefined }),
});
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 0, 1);

test('whatever locks are placed, the rows say what all of them do, and one more makes no end earlier', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const locks = new Locks(store, new KeyedLock(), NOBODY_ELSE);
  let source = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(placed, { minLength: 1, maxLength: 6 }), fc.nat(9_000), async (all, recordedDay) => {
      const sourceId = `source-${++source}`;
      const recordedAt = FIRST_DAY + recordedDay * DAY_MS;
      const made: AttestationRecord[] = [];
      const ends = RECORDS.map(() => 0);
      for (const { scope, retentionDays, at, ahead } of all) {
        const lockedAt = FIRST_DAY + at * DAY_MS;
        const startsAt = ahead === undefined ? undefined : timestampOf(lockedAt + ahead * DAY_MS);
        const claims = {
          channel: 'direct',
          scope,
          retentionDays,
          ...(startsAt && { asserted: { startsAt } }),
        } as const;
        const submittedAt = timestampOf(lockedAt);
        const record = recordOf({ kind: 'retention_lock', sourceId, submittedAt, claims });
        made.push(record);
        await store.write(LOCK_PROJECTIONS.flatMap(({ rowsOf }) => rowsOf(record)));
        for (const [i, covered] of RECORDS.entries()) {
          const over = made.filter((one) => one.claims.scope?.some((word) => scopesCovering(covered).includes(word)));
          const last = Math.max(0, ...over.map((one) => recordEnd(periodOf(one), recordedAt)));
          const end = lastRecordEnd(await locks.covering(record, covered), recordedAt) ?? 0;
          assert.is(end, last);
          assert.ok(end >= (ends[i] ?? 0));
          ends[i] = end;
        }
        const overlapping = made.filter((one) => overlap(one.claims.scope ?? [], scope));
        const together = await locks.overlapping(record, scope);
        assert.is(together.until, Math.max(...overlapping.map((one) => lockEnd(periodOf(one)))));
      }
      const events = [...new Set(all.flatMap(({ scope }) => scope.flatMap((word) => eventOfScope(word) ?? [])))];
      assert.equal(await locks.events({ account: 'acme', sourceId }, 10), events.toSorted());
      const some = await locks.events({ account: 'acme', sourceId }, 1);
      assert.equal(some, events.toSorted().slice(0, 1));
    }),
    { numRuns: 60 },
  );
});

function overlap(some: readonly LockScope[], others: readonly LockScope[]): boolean {
  const covers = (words: readonly LockScope[], record: Covered) =>
    words.some((word) => scopesCovering(record).includes(word));
  const records = [
    ...RECORDS,
    ...(['incident', 'risk_assessment', 'corrective_action'] as const).map((kind) => ({ kind })),
  ];
  return records.some((record) => covers(some, record) && covers(others, record));
}

test.run();
