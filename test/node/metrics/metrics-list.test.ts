import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TestNetwork } from '../../fixtures/test-network.ts';

const README = join(import.meta.dirname, '../../../node/README.md');
/** Between the path of the metrics and the end of its paragraph. */
const LISTED = /`\/metrics` on `METRICS_LISTEN`.*?\n\n/s;

test('node/README lists every metric that a node shows of itself, and no other', async () => {
  await using network = await TestNetwork.start();
  const { text } = await network.node().context.metrics.expose();
  const [paragraph = ''] = LISTED.exec(await readFile(README, 'utf8')) ?? [];
  const shown = [...text.matchAll(/^# TYPE (meridian_\w+) /gm)].map(([, name]) => name);
  const listed = [...paragraph.matchAll(/`(meridian_\w+)`/g)].map(([, name]) => name);
  assert.equal(listed.toSorted(), shown.toSorted());
});

test.run();
