import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bench } from '../../fixtures/bench-run.ts';

test('a node, a bare answer and other logs take the same load, and every request is answered', async () => {
  const { stdout, left } = await bench('--quick', '--only', 'peers');
  const isSkipped = /SKIPPED: Tessera POSIX: \S/.test(stdout);
  if (isSkipped) console.log('SKIP: Tessera POSIX was not measured: Go is not on the PATH');
  const logs = isSkipped ? [] : ['Tessera POSIX, batches of 5 ms', 'Tessera POSIX, batches of 100 ms'];
  for (const load of ['1 connection', '100 connections', '400 connections']) {
    for (const server of ['one node', 'bare Koa answer', 'Hypercore 11', ...logs]) {
      assert.match(stdout, new RegExp(`^${server} +${load} +[\\d,]+ .* µs .* MiB$`, 'm'));
    }
  }
  assert.match(stdout, /^one node +bulk +(?:no bulk route yet|[\d,]+ .* MiB)$/m);
  assert.match(stdout, /^Hypercore 11, in process +bulk +[\d,]+ .* MiB$/m);
  assert.match(stdout, / 0 requests failed\./);
  assert.equal(left, []);
});

test.run();
