import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { codes, standing, WatchedWorld } from './watched-world.ts';

test('all is well: every message and batch is read, nothing is told', async () => {
  await using world = await WatchedWorld.create();
  for (const node of ['eu', 'us', 'eu']) await world.seal(node);
  await using watched = await world.watch();
  const { monitor, events } = watched;
  const { complete } = await monitor.round();
  assert.equal([complete, codes(events), standing(monitor), monitor.topicSequence], [true, [], [], 3]);
  assert.equal(monitor.tree, { size: 3, root: await world.log.rootAt(3) });
  assert.equal(
    monitor.heads.find(({ node }) => node === 'eu'),
    { node: 'eu', batch: 2, open: 0 },
  );
});
test.run();
