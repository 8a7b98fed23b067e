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
    assert.match(refusalOf({ INTAKE_THREADS: value }), 'INTAKE_THREADS is no whole number from 0 to 16');
  }
});

test('a batch has at most as many records as members take', () => {
  assert.is(configWith({}).batchMaxRecords, 65_536);
  for (const size of [1, 65_536]) assert.is(configWith({ BATCH_MAX_RECORDS: String(size) }).batchMaxRecords, size);
  for (const value of ['0', '65537', '1.5', 'many']) {
    const words = 'BATCH_MAX_RECORDS is no whole number from 1 to 65536';
    assert.match(refusalOf({ BATCH_MAX_RECORDS: value }), words);
  }
});

test.run();
