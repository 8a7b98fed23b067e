import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StartAnswers } from '../../../../node/federation/start/start-answers.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';

const EU = nodeId('eu');
const heads = new Map([[EU, 3]]);
const chains = { head: () => ({ batch: heads.get(EU) ?? 0, hash: null, next: 1 }) };
const checkpointStore = { signedTextsOf: () => [] };

function open(store: MemoryRows): Promise<StartAnswers> {
  return StartAnswers.open({ store, chains, checkpointStore }, [EU]);
}

test('a node that never asked relies on nothing, so all that is held of it may be named', async () => {
  const answers = await open(new MemoryRows());
  await answers.noteFromOrigin(EU, [1, 2]);
  assert.ok(answers.mayRescue(EU, 1) && answers.mayRescue(EU, 9));
});

test('of a node that asked only what it was told, or gave itself since, may be named, across a restart', async () => {
  const store = new MemoryRows();
  const answers = await open(store);
  assert.equal(await answers.answer(EU), { batch: 3, checkpoints: [] });
  const may = (of: StartAnswers): number[] => [1, 3, 4, 5, 6, 7].filter((batch) => of.mayRescue(EU, batch));
  assert.equal(may(answers), [1, 3], 'batch 4 came from somebody else');
  await answers.noteFromOrigin(EU, [5, 6]);
  assert.equal(may(answers), [1, 3, 5, 6]);
  await answers.noteFromOrigin(EU, [7]);
  assert.equal(may(answers), [1, 3, 5, 6, 7]);
  assert.equal(may(await open(store)), [1, 3, 5, 6, 7]);
});

test('a newer start replaces what was told at the one before', async () => {
  const store = new MemoryRows();
  const answers = await open(store);
  await answers.answer(EU);
  await answers.noteFromOrigin(EU, [4]);
  heads.set(EU, 6);
  assert.is((await answers.answer(EU)).batch, 6);
  assert.equal(
    [6, 7].map((batch) => answers.mayRescue(EU, batch)),
    [true, false],
  );
  heads.set(EU, 3);
});

test('what a node gave with a gap counts from behind the gap, and nothing that it gave before it asked again', async () => {
  const answers = await open(new MemoryRows());
  await answers.answer(EU);
  await answers.noteFromOrigin(EU, [5]);
  await answers.noteFromOrigin(EU, [7, 8]);
  const may = (): number[] => [5, 6, 7, 8].filter((batch) => answers.mayRescue(EU, batch));
  assert.equal(may(), [7, 8], 'batch 6 may be another than it knows');
  // What it gave is not held any more, and it is told so.
  assert.is((await answers.answer(EU)).batch, 3);
  assert.equal(may(), []);
});

test('an answer waits until it is on the disk, and one that cannot be noted is none', async () => {
  const store = new MemoryRows();
  const answers = await open(store);
  store.write = () => Promise.reject(new Error('the disk is full'));
  const answered = await answers.answer(EU).then(
    () => true,
    () => false,
  );
  assert.not(answered);
  assert.ok(answers.mayRescue(EU, 9), 'nobody was told anything');
});

test.run();
