import { Compile } from 'typebox/compile';
import { type BatchResult, TieredAttestBatchAnswerShape } from '../../protocol/api/tiered-attest-batch.ts';
import { batchesOf } from './batches.ts';
import type { DecisionLine } from './decision-file.ts';
import { digestOf } from './digest.ts';
import { type Sent, sendUntilAnswered } from './post.ts';
import { bodyOf } from './sent-lines.ts';
import type { State } from './state-file.ts';
import { linesText } from './unanswered.ts';

/** Batches under way at once, and lines of one that are sent by themselves. */
const BATCHES = 4;
const LINES = 8;
/** Characters that are told of an answer that does not stand. */
const MAX_TOLD = 300;
const RECORDED = /"attestationId":"(att_[a-z0-9]+_[0-9A-Z]{26})"/;

const answer = Compile(TieredAttestBatchAnswerShape);

export interface SendOptions {
  /** `{node_url}` in front of `/v1`. */
  readonly nodeUrl: string;
  readonly apiKey: string;
  readonly state: State;
  readonly signal: AbortSignal;
  readonly onAccepted: () => void;
  readonly onRefused: (line: DecisionLine, problem: string) => void;
}

/** Of something that was sent no answer tells whether it is recorded. */
export class SendingStopped extends Error {
  override readonly name = 'SendingStopped';
}

/** One sending of the file, until something stops it. */
interface Run extends SendOptions {
  readonly stop: AbortController;
}

/** Lines that are sent together. */
interface Call {
  readonly path: string;
  readonly type: string;
  /** With the name of the run its idempotency key: what is sent again has the same. */
  readonly key: string;
  readonly first: number;
  readonly last: number;
  readonly body: string;
}

/**
 * Sends every line that was not accepted before, many in one call. A refused line is reported and passed over; a lost
 * node is waited for. Throws `SendingStopped` where there is no answer that stands, once what else is under way has one.
 *
 * Crash order: what is sent, a batch or a single line, is noted before, and again once its answer is. What is noted once
 * may be recorded, so it is sent again as it was; what is left of a batch that was answered is sent line by line.
 */
export async function sendAll(lines: AsyncIterable<DecisionLine>, options: SendOptions): Promise<void> {
  const batches = batchesOf(lines, options.state.sendings);
  const stop = new AbortController();
  const run = { ...options, stop, signal: AbortSignal.any([options.signal, stop.signal]) };
  await together(BATCHES, run, async () => {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      if (run.signal.aborted) return;
      await sendSome(next.value, run);
    }
  });
}

/** Does so many at once, each to its end; the first failure stops the run, and is thrown. */
async function together(count: number, { stop }: Run, work: () => Promise<void>): Promise<void> {
  const worker = (): Promise<void> =>
    work().catch((error: unknown) => {
      stop.abort(error);
      throw error;
    });
  await Promise.allSettled(Array.from({ length: count }, worker));
  stop.signal.throwIfAborted();
}

async function sendSome(batch: readonly DecisionLine[], run: Run): Promise<void> {
  const { accepted, sendings, unanswered } = run.state;
  const left = batch.filter(({ number }) => !accepted.has(number));
  const [first] = batch;
  if (first === undefined || left.length === 0) return;
  const isOpen = (unanswered.get(first.number)?.last ?? first.number) > first.number;
  const isNew = !sendings.has(first.number) && left.length === batch.length && batch.length > 1;
  if (isOpen || isNew) await sendBatch(batch, first.number, run);
  else await sendOneByOne(left, run);
}

async function sendBatch(batch: readonly DecisionLine[], first: number, run: Run): Promise<void> {
  const { state } = run;
  const call = {
    path: '/v1/tiered-attest-batch',
    type: 'application/x-ndjson',
    key: `batch-${first}`,
    first,
    last: batch.at(-1)?.number ?? first,
    body: bodyOf(batch.map(({ text }) => text)),
  };
  const sent = await send(call, run);
  if (sent?.kind === 'accepted') await takeResults(sent.text, batch, call, run);
  if (sent?.kind !== 'refused') return;
  // A line is at fault, or not all fit under the daily cap: each is told by itself.
  await state.end(first);
  await sendOneByOne(
    batch.filter(({ number }) => !state.accepted.has(number)),
    run,
  );
}

async function takeResults(
  text: string,
  batch: readonly DecisionLine[],
  call: Call,
  { state, onAccepted, onRefused }: Run,
): Promise<void> {
  const results = resultsOf(text);
  if (results?.length !== batch.length) throw stoppedAt(call, text);
  for (const [i, line] of batch.entries()) {
    const result = results[i];
    if (result === undefined || state.accepted.has(line.number)) continue;
    if ('attestationId' in result) {
      await state.accept(line.number, result.attestationId, digestOf(line.text));
      onAccepted();
    } else onRefused(line, `${result.code}: ${result.detail}`);
  }
  await state.end(call.first);
}

/** Null where it is no node that answers so. */
function resultsOf(text: string): readonly BatchResult[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return answer.Check(value) ? value.results : null;
  } catch {
    return null;
  }
}

async function sendOneByOne(lines: readonly DecisionLine[], run: Run): Promise<void> {
  const waiting = lines.values();
  await together(LINES, run, async () => {
    for (const line of waiting) {
      if (run.signal.aborted) return;
      await sendOne(line, run);
    }
  });
}

async function sendOne({ number, text }: DecisionLine, run: Run): Promise<void> {
  const { state, onAccepted, onRefused } = run;
  const call = {
    path: '/v1/tiered-attest',
    type: 'application/json',
    key: String(number),
    first: number,
    last: number,
    body: text,
  };
  const sent = await send(call, run);
  if (sent?.kind === 'accepted') {
    const id = RECORDED.exec(sent.text)?.[1];
    if (id === undefined) throw stoppedAt(call, sent.text);
    await state.accept(number, id, digestOf(text));
    onAccepted();
  } else if (sent?.kind === 'refused') {
    await state.end(number);
    onRefused({ number, text }, sent.problem);
  }
}

/** Null where the run ends before there is an answer. Throws `SendingStopped` where there is none that stands. */
async function send(
  call: Call,
  { nodeUrl, apiKey, state, signal }: Run,
): Promise<Extract<Sent, { kind: 'accepted' | 'refused' }> | null> {
  const isFirst = !state.unanswered.has(call.first);
  const { at } = await state.begin(call.first, { last: call.last, digest: digestOf(call.body) });
  const post = {
    url: `${nodeUrl}${call.path}`,
    headers: { 'content-type': call.type, 'x-api-key': apiKey, 'idempotency-key': `${state.run}-${call.key}` },
    body: call.body,
    isFirst,
    at,
  };
  const sent = await sendUntilAnswered(post, signal);
  if (sent.kind === 'accepted' || sent.kind === 'refused') return sent;
  if (sent.kind === 'not-taken') await state.end(call.first);
  if (signal.aborted) return null;
  throw stoppedAt(call, sent.problem);
}

function stoppedAt({ first, last }: Call, answered: string): SendingStopped {
  return new SendingStopped(
    `${linesText(first, last)} sent, and no answer tells what came of that: ${answered.slice(0, MAX_TOLD)}\n` +
      'Nothing more is sent. The next run with this state goes on there, and sends nothing twice.',
  );
}
