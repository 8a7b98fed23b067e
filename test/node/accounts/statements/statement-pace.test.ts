import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VERSIONS_PER_DAY } from '../../../../node/accounts/limits/allowances.ts';
import {
  STATEMENT_BURST,
  STATEMENT_EVERY_MS,
  StatementPace,
} from '../../../../node/accounts/statements/statement-publisher.ts';

const test = suite('the pace of statements');

const ADA = 'acc_eu_ada';
const DAY_MS = 86_400_000;

test('an account that changes seldom waits for nothing, nor does another one', () => {
  let now = 0;
  const pace = new StatementPace(() => now);
  for (let i = 0; i < 100; i++, now += 2 * STATEMENT_EVERY_MS) {
    assert.is(pace.wait(ADA), 0);
    pace.note(ADA);
  }
  assert.is(pace.wait('acc_eu_bob'), 0);
});

test('a few changes in a row wait for less than a second, many for ever longer, and none for more than the pause', () => {
  let now = 0;
  const pace = new StatementPace(() => now);
  let before = 0;
  for (let i = 1; i <= 3 * STATEMENT_BURST; i++) {
    pace.note(ADA);
    const wait = pace.wait(ADA);
    if (i <= 5) assert.ok(wait < 1_000, `${i}: ${wait}`);
    assert.ok(wait >= before - 1, `${i}: ${wait} after ${before}`);
    before = wait;
    now += wait;
  }
  assert.ok(before <= STATEMENT_EVERY_MS * 1.2 && before > STATEMENT_EVERY_MS * 0.9, String(before));
});

test('whoever changes keys all day leaves a version a minute and a burst', () => {
  let now = 0;
  const pace = new StatementPace(() => now);
  let versions = 0;
  while (now < DAY_MS) {
    const wait = pace.wait(ADA);
    if (wait === 0) {
      pace.note(ADA);
      versions++;
    }
    now += Math.max(wait, 100);
  }
  assert.is(VERSIONS_PER_DAY, DAY_MS / STATEMENT_EVERY_MS + STATEMENT_BURST);
  assert.ok(versions <= VERSIONS_PER_DAY, String(versions));
});

test.run();
