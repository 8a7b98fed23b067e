import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { readTimeSteps, timeStepTable, TimeSteps } from '../../../node/records/time-steps.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { draftOf, type Fate, IntakeFixture, NODE, temporaryDirectory } from '../intake/intake-fixture.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const MINUTE = 60_000;

test('a record that lies before the one before it is noted in its own write, also after a restart and a write that failed', async () => {
  await using directory = await temporaryDirectory();
  let clock = NOON;
  let fate: Fate = 'kept';
  const terms = { now: () => clock, timeOf: () => clock, fate: () => fate };
  {
    await using fixture = await IntakeFixture.open(directory.path, terms);
    await fixture.intake.submitAll([draftOf('a'), draftOf('b')]);
    fate = 'refused';
    clock = NOON + 5 * MINUTE;
    await fixture.intake.submit(draftOf('a')).catch(() => undefined);
    fate = 'kept';
    clock = NOON + MINUTE;
    await fixture.intake.submit(draftOf('a'));
    assert.equal(await readTimeSteps(fixture.store, NODE), []);
  }
  clock = NOON - MINUTE;
  await using fixture = await IntakeFixture.open(directory.path, terms);
  const { record } = await fixture.intake.submit(draftOf('a'));
  const step = { seq: record.seq, before: timestampOf(NOON + MINUTE), after: timestampOf(NOON - MINUTE) };
  assert.equal(await readTimeSteps(fixture.store, NODE), [step]);
  const again = await new RecordCounters(fixture.store, [new TimeSteps(fixture.store, NODE)]).rowsOf([record]);
  assert.equal(again, [timeStepTable.put([NODE, step.seq], { before: step.before, after: step.after })]);
});

test.run();
