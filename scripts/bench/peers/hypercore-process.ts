import Hypercore from 'hypercore';
import { decisionBodies } from '../decisions.ts';
import { serveRecords } from '../http/koa-front.ts';
import type { LoadAnswer } from '../http/load-forms.ts';
import { percentile } from '../statistics.ts';
import type { AppendQuestion } from './append-forms.ts';

const BODIES = 200;

// The first argument is the folder of the log. What is asked over the IPC channel is appended in this process, without
// HTTP.
const core = new Hypercore(process.argv[2] ?? '');
const blocks = decisionBodies(BODIES).map((body) => Buffer.from(JSON.stringify(body)));

serveRecords(async (text) => ({ index: (await core.append(Buffer.from(text))).length - 1 }));
process.on('message', (question: AppendQuestion) => void append(question).then((answer) => process.send?.(answer)));

/** One batch after the other: the next is given once the one before is in the log. */
async function append({ batch, seconds }: AppendQuestion): Promise<LoadAnswer> {
  const started = performance.now();
  const end = started + seconds * 1000;
  const times: number[] = [];
  let last = started;
  let next = 0;
  while (last < end) {
    const some = Array.from({ length: batch }, () => blocks[next++ % BODIES] ?? Buffer.alloc(0));
    await core.append(some);
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  const records = times.length * batch;
  return {
    records,
    failed: 0,
    perSecond: (records * 1000) / (last - started),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  };
}
