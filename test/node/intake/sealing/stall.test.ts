import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_BATCH_RECORDS } from '../../../../protocol/chain/envelope-rules.ts';
import { longestTask } from '../../../../scripts/bench/longest-task.ts';
import { temporaryDirectory } from '../intake-fixture.ts';
import { requireChain, SealingFixture } from './sealing-fixture.ts';

const GROUP = 256;
test('sealing 65,536 leaves is cut into short turns of the event loop', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await SealingFixture.open(directory.path);
  for (let count = 0; count < MAX_BATCH_RECORDS - GROUP; count += GROUP) await fixture.record(GROUP);
  const before = process.threadCpuUsage();
  const longest = await longestTask(async () => {
    await fixture.record(GROUP);
    await fixture.sealer.seal();
  });
  const used = process.threadCpuUsage(before);
  const whole = (used.user + used.system) / 1000;
  console.log(`${whole.toFixed(1)} ms of processor, ${longest.toFixed(1)} of them in one turn`);
  assert.is((await requireChain(fixture.store))[0]?.size, MAX_BATCH_RECORDS);
  // In one go it would be nearly all of it, however fast the machine.
  assert.ok(longest < whole / 3, `${longest} of ${whole} ms`);
});

test.run();
