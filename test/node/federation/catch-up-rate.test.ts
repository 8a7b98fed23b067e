import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeId } from '../../../protocol/ids.ts';
import { Pulling } from './pulling.ts';

const EU = nodeId('eu');

test('a batch of more than one page is pulled page after page', async () => {
  await using pulling = await Pulling.start();
  const drafts = Array.from({ length: 2_500 }, () => ({}));
  await pulling.seal('eu', ['eu'], drafts, 50);
  await pulling.seal('eu', ['eu'], drafts, 50);
  const started = performance.now();
  pulling.catchUp.lead(EU, EU, 2);
  await pulling.catchUp.settled(EU);
  const seconds = (performance.now() - started) / 1000;
  assert.is(pulling.head('eu'), 2);
  assert.ok(pulling.asked('eu') > 2, 'more pages than batches');
  console.log(
    `catch-up: ${Math.round(5_000 / seconds)} records a second in groups of 50, ${pulling.asked('eu')} pages`,
  );
});

test('2,000 records that were each signed alone come with few synced writes', async () => {
  await using pulling = await Pulling.start();
  await pulling.seal(
    'eu',
    ['eu'],
    Array.from({ length: 2_000 }, () => ({})),
    1,
  );
  const { store } = pulling.fixture('jp');
  const writes = store.writes;
  const started = performance.now();
  pulling.catchUp.lead(EU, EU, 1);
  await pulling.catchUp.settled(EU);
  const seconds = (performance.now() - started) / 1000;
  assert.is(pulling.head('eu'), 1);
  assert.ok(store.writes - writes < 20, `${store.writes - writes} writes`);
  console.log(`catch-up: ${Math.round(2_000 / seconds)} records a second in groups of one`);
});

test.run();
