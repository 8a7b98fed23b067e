import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bench } from '../../fixtures/bench-run.ts';

test('one store is filled on, and at each size the node answers and its store is found whole', async () => {
  const { stdout, left } = await bench('--quick', '--only', 'size');
  assert.match(stdout, /^records +1,000 +3,000 +largest ÷ smallest$/m);
  for (const question of ['usage', 'status', 'verify', 'list of 50', 'attest']) {
    for (const figure of ['p50', 'p99']) {
      assert.match(stdout, new RegExp(`^${question}, ${figure} +[\\d.]+ ms +[\\d.]+ ms +[\\d.]+×$`, 'm'));
    }
  }
  assert.match(stdout, /^disk, bytes a record +[\d,]+ +[\d,]+ +[\d.]+×$/m);
  assert.match(stdout, /^fsck, records\/s +[\d,]+ +[\d,]+ +[\d.]+×$/m);
  assert.equal(left, []);
});

test.run();
