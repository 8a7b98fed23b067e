import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  clockStartOf,
  type ClockedRecord,
  deadlineState,
  notificationDueAt,
  statutoryClocks,
} from '../../../protocol/compliance/notification-clock.ts';
import { SEVERITIES, type Severity } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';

const DAY_MS = 86_400_000;
/** By the interface specification. */
const DAYS: Readonly<Record<Severity, number>> = { serious: 15, critical: 2, fatal: 2 };

const moment = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) });
const severity = fc.constantFrom(...SEVERITIES);

function recordOf(submittedAt: number, severityOf: Severity, awareness?: number): ClockedRecord {
  const clockStart = awareness === undefined ? {} : { clockStart: timestampOf(awareness) };
  return { submittedAt: timestampOf(submittedAt), claims: { severity: severityOf, ...clockStart } };
}

test('a clock runs its days of 24 hours from awareness, or else from the record', () => {
  fc.assert(
    fc.property(moment, severity, fc.option(moment, { nil: undefined }), (submittedAt, word, awareness) => {
      const record = recordOf(submittedAt, word, awareness);
      const { at, basis } = clockStartOf(record);
      assert.is(basis, awareness === undefined ? 'submittedAt' : 'awarenessAt');
      assert.is(Date.parse(at), awareness ?? submittedAt);
      assert.is(Date.parse(notificationDueAt(record)) - Date.parse(at), DAYS[word] * DAY_MS);
    }),
  );
});

test('the statutory periods stand side by side, of 15, 2 and 10 days', () => {
  fc.assert(
    fc.property(moment, (start) => {
      const clocks = statutoryClocks(timestampOf(start));
      assert.equal(
        clocks.map(({ ref, days, dueAt }) => [ref, days, (Date.parse(dueAt) - start) / DAY_MS]),
        [
          ['EU AI Act 73(2)', 15, 15],
          ['EU AI Act 73(3)', 2, 2],
          ['EU AI Act 73(4)', 10, 10],
        ],
      );
    }),
  );
});

test('the product is never later than the period that the severity names', () => {
  for (const word of SEVERITIES) {
    const due = Date.parse(notificationDueAt(recordOf(0, word)));
    const [general, widespread, death] = statutoryClocks(timestampOf(0)).map(({ dueAt }) => Date.parse(dueAt));
    const named = { serious: general, critical: widespread, fatal: death }[word];
    assert.ok(due <= (named ?? -1), word);
  }
});

test('a clock is open, due soon in its last 24 hours, and overdue after its end', () => {
  const due = Date.UTC(2026, 10, 30);
  const at = (before: number) => deadlineState(due, due - before);
  assert.is(at(DAY_MS + 1), 'open');
  assert.is(at(DAY_MS), 'due-soon');
  assert.is(at(0), 'due-soon');
  assert.is(at(-1), 'overdue');
  const order = ['open', 'due-soon', 'overdue'];
  fc.assert(
    fc.property(moment, moment, moment, (end, a, b) => {
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      assert.ok(order.indexOf(deadlineState(end, first)) <= order.indexOf(deadlineState(end, last)));
    }),
  );
});

test.run();
