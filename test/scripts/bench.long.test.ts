import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bench } from '../fixtures/bench-run.ts';

test('a quick run measures every way and leaves nothing behind', async () => {
  const { stdout, left } = await bench('--quick', '--only', 'intake,sealing,catch-up');
  const grouped = numberIn(stdout, /^groups, native.*? {2}([\d,]+) +1\.00×$/m);
  const alone = numberIn(stdout, /^one a record, noble +([\d,]+)/m);
  assert.ok(grouped > alone, `groups ${grouped}, one a record ${alone}`);
  assert.match(stdout, /^last record → on the disk +[\d.]+ ms +[\d.]+ ms$/m);
  assert.is(
    numberIn(stdout, /^([\d,]+) +[\d,]+ +[\d.]+ ms +[\d,]+ +[\d,]+ µs \/ [\d,]+ µs +[\d,]+ µs +[\d,]+ MiB$/m),
    2000,
  );
  assert.equal(left, []);
});

test('a node process and the bare answer are put under the same load, and every request is answered', async () => {
  const { stdout, left } = await bench('--quick', '--only', 'http');
  for (const connections of [1, 100, 400]) {
    assert.match(stdout, new RegExp(`^${connections} +[\\d,]+/s +[\\d,]+/s +[\\d.]+×`, 'm'));
  }
  for (const form of ['list', 'lines']) assert.match(stdout, new RegExp(`^4, ${form} of 1000 +[\\d,]+/s +–`, 'm'));
  assert.match(stdout, / 0 requests failed\./);
  assert.equal(left, []);
});

test('a part of another name is refused', async () => {
  const failure: unknown = await bench('--only', 'sprint').catch((error: unknown) => error);
  assert.instance(failure, Error);
  assert.match(String(failure), /there is no part sprint/);
});

test.run();

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1]?.replaceAll(',', ''));
}
