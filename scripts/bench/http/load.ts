import { once } from 'node:events';
import autocannon from 'autocannon';
import { decisionBodies } from '../decisions.ts';
import { percentile } from '../statistics.ts';
import { BATCH_RECORDS, type LoadAnswer, type LoadForm, type LoadQuestion } from './load-forms.ts';

/** Every connection walks through all of them, so every connection speaks for every source. */
const BODIES = 100;
const BATCHES = 4;

const bodies = decisionBodies(BODIES).map((body) => JSON.stringify(body));
/** Made when they are first asked for. */
const batches = new Map<LoadForm, readonly string[]>();

process.on('message', (question: LoadQuestion) => void load(question).then((answer) => process.send?.(answer)));
process.once('SIGTERM', () => process.exit());
process.once('disconnect', () => process.exit());

function batchBodies(form: LoadForm): readonly string[] {
  const all = decisionBodies(BATCHES * BATCH_RECORDS).map((body) => JSON.stringify(body));
  const made = Array.from({ length: BATCHES }, (_, i) => {
    const records = all.slice(i * BATCH_RECORDS, (i + 1) * BATCH_RECORDS);
    return form === 'lines' ? records.join('\n') : `[${records.join(',')}]`;
  });
  batches.set(form, made);
  return made;
}

async function load({ form, url, apiKey, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const type = form === 'lines' ? 'application/x-ndjson' : 'application/json';
  const headers = { 'content-type': type, 'x-api-key': apiKey };
  const sent = form === 'one' ? bodies : (batches.get(form) ?? batchBodies(form));
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
  return {
    answers: times.length,
    failed,
    perSecond: (times.length * 1000) / (last - started),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}
