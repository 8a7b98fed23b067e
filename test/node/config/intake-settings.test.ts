import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { configWith, refusalOf } from './settings.ts';

test('groups are prepared in place where no threads are asked for', () => {
  assert.is(configWith({}).intakeThreads, 0);
  assert.is(configWith({ INTAKE_THREADS: '0' }).intakeThreads, 0);
  assert.is(configWith({ INTAKE_THREADS: '16' }).intakeThreads, 16);
});

test('what is no number of threads is refused by the name of its variable', () => {
  for (const value of ['-1', '1.5', '17', 'all', 'Infinity']) {
    assert.match(refusalOf({ INTAKE_THREADS: value }), 'INTAKE_THREADS is no whole number up to 16');
  }
});

test.run();
