import { decisionBodies } from '../decisions.ts';
import type { Forked } from '../forked.ts';
import { processorTime } from '../processor-time.ts';
import { isLoadAnswer, type LoadAnswer, type LoadQuestion } from './load-forms.ts';

/** Path that the records go to, at every server that is measured. */
export const ROUTE = '/v1/tiered-attest';
/** The same of many records in one request, at a node. */
export const BATCH_ROUTE = '/v1/tiered-attest-batch';

export interface Target extends Pick<LoadQuestion, 'url' | 'apiKey' | 'batch' | 'form'> {
  /** Of the process that answers. */
  readonly pid: number;
}

/** What a round of load saw, and what the process that answered it took of the processor. */
export interface Round extends LoadAnswer {
  /** Microseconds a record, of the main thread and of all threads. */
  readonly main: number;
  readonly all: number;
}

/** One round of load over HTTP: so many connections for so many seconds. */
export function runLoad(load: Forked, target: Target, connections: number, seconds: number): Promise<Round> {
  const { pid, ...asked } = target;
  return measureRound(pid, () => load.ask({ ...asked, connections, seconds }));
}

/** A round that `make` makes and answers for, while the processor time of a process is taken. */
export async function measureRound(pid: number, make: () => Promise<unknown>): Promise<Round> {
  const before = await processorTime(pid);
  const answer = await make();
  if (!isLoadAnswer(answer)) throw new Error('a round of load was answered with something else');
  const after = await processorTime(pid);
  const { records } = answer;
  return { ...answer, main: (after.main - before.main) / records, all: (after.all - before.all) / records };
}

/** A real answer of the node, for the baseline to repeat. */
export async function sampleAnswer({ url, apiKey }: Target): Promise<string> {
  const [body] = decisionBodies(1);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the node answered ${response.status}: ${text}`);
  return text;
}

export function pidOf(process: { readonly pid?: number | null | undefined } | undefined): number {
  if (typeof process?.pid !== 'number') throw new Error('there is no process to measure');
  return process.pid;
}

/** The port that a server told its parent. */
export function portOf(answer: unknown): number {
  if (typeof answer === 'object' && answer !== null && 'port' in answer && typeof answer.port === 'number') {
    return answer.port;
  }
  throw new Error('the server did not say where it is');
}
