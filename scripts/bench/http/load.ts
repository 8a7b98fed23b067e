import { once } from 'node:events';
import autocannon from 'autocannon';
import { decisionBodies } from '../decisions.ts';
import { percentile } from '../statistics.ts';
import type { LoadAnswer, LoadQuestion } from './load-forms.ts';

/** Every connection walks through all of them, so every connection speaks for every source. */
const BODIES = 100;

const bodies = decisionBodies(BODIES).map((body) => JSON.stringify(body));

process.on('message', (question: LoadQuestion) => void load(question).then((answer) => process.send?.(answer)));
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

async function load({ url, apiKey, batch, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const sent = batch === undefined ? bodies : [batchBody(batch)];
  const requests = sent.map((body) => ({ method: 'POST', headers, body }));
  const started = performance.now();
  const times: number[] = [];
  let failed = 0;
  const run = autocannon({ url, connections, duration: seconds, requests });
  run.on('response', (_client, status, _bytes, milliseconds) => {
    if (status === 200) times.push(milliseconds);
    else failed++;
  });
  run.on('reqError', () => failed++);
  // The rate is over the time in which answers came; autocannon rounds its own end up to a tick.
  let last = started;
  run.on('response', () => (last = performance.now()));
  await once(run, 'done');
  if (times.length === 0) throw new Error(`${url} answered nothing; ${failed} requests failed`);
  const records = times.length * (batch ?? 1);
  return {
    records,
    failed,
    perSecond: (records * 1000) / (last - started),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}

function batchBody(records: number): string {
  return `[${Array.from({ length: records }, (_, i) => bodies[i % BODIES]).join(',')}]`;
}
