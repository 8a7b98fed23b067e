import { once } from 'node:events';
import autocannon from 'autocannon';
import { decisionBodies } from '../decisions.ts';
import { percentile } from '../statistics.ts';
import type { LoadAnswer, LoadQuestion } from './load-forms.ts';

/** Every connection walks through all of them, so every connection speaks for every source. */
const BODIES = 100;
/** Of a load that nothing answers. */
const MOST_ROUNDS = 10;

const bodies = decisionBodies(BODIES).map((body) => JSON.stringify(body));

process.on('message', (question: LoadQuestion) => {
  const loading = question.batch === undefined ? loadOneByOne(question) : loadBatches(question, question.batch);
  void loading.then((answer) => process.send?.(answer));
});
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

async function loadOneByOne({ url, apiKey, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const headers = headersOf(apiKey);
  const requests = bodies.map((body) => ({ method: 'POST', headers, body }));
  const started = performance.now();
  const times: number[] = [];
  let failed = 0;
  let last = started;
  // On a machine that is busy with other work a short round may end before the first answer: then it goes on.
  for (let rounds = 0; rounds < MOST_ROUNDS && times.length + failed === 0; rounds++) {
    const run = autocannon({ url, connections, duration: seconds, requests });
    run.on('response', (_client, status, _bytes, milliseconds) => {
      if (status === 200) times.push(milliseconds);
      else failed++;
      // The rate is over the time in which answers came; autocannon rounds its own end up to a tick.
      last = performance.now();
    });
    run.on('reqError', () => failed++);
    await once(run, 'done');
  }
  return answerOf(url, { times, failed, records: times.length, milliseconds: last - started });
}

/** Every request that was begun is waited for: what a server did for one is not lost. */
async function loadBatches(
  { url, apiKey, connections, seconds, form = 'list' }: LoadQuestion,
  batch: number,
): Promise<LoadAnswer> {
  const headers = { ...headersOf(apiKey), ...(form === 'lines' ? { 'content-type': 'application/x-ndjson' } : {}) };
  const records = Array.from({ length: batch }, (_, i) => bodies[i % BODIES]);
  const body = form === 'lines' ? records.join('\n') : `[${records.join(',')}]`;
  const started = performance.now();
  const times: number[] = [];
  let failed = 0;
  const connection = async (): Promise<void> => {
    while (performance.now() - started < seconds * 1000) {
      const asked = performance.now();
      const response = await fetch(url, { method: 'POST', headers, body });
      await response.arrayBuffer();
      if (response.status === 200) times.push(performance.now() - asked);
      else failed++;
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return answerOf(url, { times, failed, records: times.length * batch, milliseconds: performance.now() - started });
}

function headersOf(apiKey: string) {
  return { 'content-type': 'application/json', 'x-api-key': apiKey };
}

interface Seen extends Pick<LoadAnswer, 'records' | 'failed'> {
  /** Of the requests that were answered with status 200, in milliseconds. */
  readonly times: readonly number[];
  /** Of the whole round. */
  readonly milliseconds: number;
}

function answerOf(url: string, { times, failed, records, milliseconds }: Seen): LoadAnswer {
  if (times.length === 0) throw new Error(`${url} answered nothing; ${failed} requests failed`);
  return {
    records,
    failed,
    perSecond: (records * 1000) / milliseconds,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}
