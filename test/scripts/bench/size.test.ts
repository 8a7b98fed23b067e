import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseFillAnswer, parseFillQuestion, type Sample } from '../../../scripts/bench/size/fill-forms.ts';
import { timesOf } from '../../../scripts/bench/size/questions.ts';
import { Samples } from '../../../scripts/bench/size/samples.ts';
import { type SizeFigures, sizeTable } from '../../../scripts/bench/size/size-table.ts';

const { signal } = new AbortController();

test('records are picked from all stages of a fill, as often as there are records in each', () => {
  let drawn = 0;
  const samples = new Samples(() => drawn);
  assert.throws(() => samples.pick(), RangeError);
  assert.is(samples.last, undefined);
  samples.add(100, [sample('a')]);
  samples.add(100, []);
  samples.add(1_000, [sample('b'), sample('c')]);
  assert.is(samples.last?.id, 'c');
  const picked = (share: number): string => {
    drawn = share;
    return samples.pick().id;
  };
  assert.equal([0, 0.09, 0.11, 0.49, 0.51, 0.99].map(picked), ['a', 'a', 'b', 'b', 'c', 'c']);
});

test('requests that warm up are not counted, and an interrupt ends the asking', async () => {
  let asked = 0;
  const ask = async () => void asked++;
  const { p50, p99, all } = await timesOf(process.pid, ask, () => sample('a'), { warmUp: 3, times: 5 }, signal);
  assert.is(asked, 8);
  assert.ok(p50 <= p99 && all >= 0);
  const endless = { warmUp: 0, times: Number.POSITIVE_INFINITY };
  const failure: unknown = await timesOf(process.pid, ask, () => sample('a'), endless, AbortSignal.abort()).catch(
    (error: unknown) => error,
  );
  assert.instance(failure, Error);
});

test('as many requests are under way as there are connections, and no more are made than asked for', async () => {
  let [asked, underWay, most] = [0, 0, 0];
  const ask = async () => {
    asked++;
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
  };
  const asking = { warmUp: 0, times: 20, connections: 3 };
  const { perSecond } = await timesOf(process.pid, ask, () => sample('a'), asking, signal);
  assert.equal([asked, most], [20, 3]);
  assert.ok(perSecond > 0);
});

test('the table has a column a size, and the largest against the smallest', () => {
  const table = sizeTable([figures(1_000, 2), figures(3_000, 5)]);
  assert.equal(table[0], ['records', '1,000', '3,000', 'largest ÷ smallest']);
  assert.equal(
    table.find(([name]) => name === 'status, p50'),
    ['status, p50', '2.00 ms', '5.00 ms', '2.50×'],
  );
  assert.equal(
    table.find(([name]) => name === 'fsck, records/s'),
    ['fsck, records/s', '500', '1,500', '3.00×'],
  );
  assert.equal(
    table.find(([name]) => name === 'verify again, a second'),
    ['verify again, a second', '20', '50', '2.50×'],
  );
  assert.equal(sizeTable([]), [['', 'nothing measured']]);
});

test('questions and answers of another form are refused', () => {
  const answer = { recorded: 1, samples: [sample('a')] };
  assert.equal(parseFillAnswer(answer), answer);
  assert.throws(() => parseFillAnswer({ recorded: 1 }), TypeError);
  assert.throws(() => parseFillQuestion({ ask: 'fill', records: -1, samples: 0 }), TypeError);
  assert.throws(() => parseFillQuestion({ ask: 'empty' }), TypeError);
});

test.run();

function sample(id: string): Sample {
  return { id, sourceId: 'loans', submittedAt: '2026-11-20T00:00:00.000Z' };
}

function figures(records: number, p50: number): SizeFigures {
  const memory = { own: 1, files: 1 };
  return {
    records,
    filledPerSecond: 1,
    filledAll: 1,
    startMs: 1,
    idle: memory,
    busy: memory,
    times: [{ name: 'status', p50, p99: p50, all: 1, perSecond: 1 }],
    again: [{ name: 'verify again', p50, p99: p50, all: 1, perSecond: 10 * p50 }],
    bytesARecord: 1,
    check: { seconds: 2, records, own: 1, processor: { main: 0, all: 0 } },
  };
}
