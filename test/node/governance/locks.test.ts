import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Locks } from '../../../node/governance/locks.ts';
import { KeyedLock } from '../../../node/concurrency/keyed-lock.ts';
import { Store } from '../../../node/store/store.ts';
import { until } from '../../fixtures/until.ts';
import { temporaryDirectory } from '../anchoring/anchoring-node.ts';

test('work on the same sources runs one after the other, in whichever order each names them', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const locks = new Locks(store, new KeyedLock());
  const [one, two] = ['one', 'two'].map((sourceId) => ({ account: 'acc', sourceId }));
  if (one === undefined || two === undefined) throw new Error('two sources');
  let [at, most, done] = [0, 0, 0];
  const work = async (): Promise<void> => {
    most = Math.max(most, ++at);
    await Promise.resolve();
    at--;
  };
  for (const sources of [[one, two], [two, one], [one], [two, two]]) {
    void locks.alone(sources, work).then(() => void done++);
  }
  await until('all of it', () => done === 4);
  assert.ok(most <= 2, 'of each source one at a time');
});

test.run();
