import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { InferenceError } from '../../../node/inference/inference-error.ts';
import { WaitingLine } from '../../../node/inference/waiting-line.ts';

const patient = new AbortController().signal;

async function outcomeOf(entering: Promise<Disposable>): Promise<string> {
  try {
    await entering;
    return 'entered';
  } catch (error) {
    return error instanceof InferenceError ? error.code : String(error);
  }
}

test('as many are served as may be, as many wait, and the rest is refused', async () => {
  const line = new WaitingLine({ atOnce: 1, waiting: 2 });
  const first = await line.enter(patient);
  const [second, third] = [line.enter(patient), line.enter(patient)];
  assert.is(await outcomeOf(line.enter(patient)), 'busy');
  assert.is(line.length, 2);
  first[Symbol.dispose]();
  const place = await second;
  assert.is(line.length, 1);
  place[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  assert.is(await outcomeOf(line.enter(patient)), 'entered');
});

test('first come, first served', async () => {
  const line = new WaitingLine({ atOnce: 2, waiting: 8 });
  const served: number[] = [];
  await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (who) => {
      using _place = await line.enter(patient);
      served.push(who);
      await Promise.resolve();
    }),
  );
  assert.equal(served, [1, 2, 3, 4, 5, 6]);
});

test('who goes away leaves his place to others, and is not called', async () => {
  const line = new WaitingLine({ atOnce: 1, waiting: 1 });
  const first = await line.enter(patient);
  const gone = new AbortController();
  const second = outcomeOf(line.enter(gone.signal));
  gone.abort('gone');
  assert.is(await second, 'gone');
  const third = line.enter(patient);
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  assert.is(await outcomeOf(line.enter(gone.signal)), 'gone', 'and does not come again');
});

test.run();
