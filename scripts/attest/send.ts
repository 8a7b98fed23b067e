import { Compile } from 'typebox/compile';
import { TieredAttestBatchAnswerShape } from '../../protocol/api/tiered-attest-batch.ts';
import { batchesOf } from './batches.ts';
import type { DecisionLine } from './decision-file.ts';
import { digestOf } from './digest.ts';
import { type Sent, sendUntilAnswered } from './post.ts';
import { bodyOf } from './sent-lines.ts';
import type { State } from './state-file.ts';
import { KNOWN_AGAIN_MS } from './unanswered.ts';

/** Batches under way at once, and lines of one that are sent by themselves. */
const BATCHES = 4;
const LINES = 8;
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

/**
 * Sends every line that was not accepted before, many in one call. A refused line is reported and passed over; a lost
 * node is waited for.
 *
 * Crash order: what is sent, a batch or a single line, is noted before, and again once its answer is. What is noted once
 * may be recorded, so it is sent again as it was; what is left of a batch that was answered is sent line by line.
 */
export async function sendAll(lines: AsyncIterable<DecisionLine>, options: SendOptions): Promise<void> {
  const batches = batchesOf(lines, options.state.sendings);
  const worker = async (): Promise<void> => {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      if (options.signal.aborted) return;
      await sendSome(next.value, options);
    }
  };
  await Promise.all(Array.from({ length: BATCHES }, worker));
}

async function sendSome(batch: readonly DecisionLine[], options: SendOptions): Promise<void> {
  const { accepted, sendings, unanswered } = options.state;
  const left = batch.filter(({ number }) => !accepted.has(number));
  const [first] = batch;
  if (first === undefined || left.length === 0) return;
  const isOpen = (unanswered.get(first.number)?.last ?? first.number) > first.number;
  const isNew = !sendings.has(first.number) && left.length === batch.length && batch.length > 1;
  if (isOpen || isNew) await sendBatch(batch, first.number, options);
  else await sendOneByOne(left, options);
}

async function sendBatch(batch: readonly DecisionLine[], first: number, options: SendOptions): Promise<void> {
  const { state, signal } = options;
  const body = bodyOf(batch.map(({ text }) => text));
  const { at } = await state.begin(first, { last: batch.at(-1)?.number ?? first, digest: digestOf(body) });
  const sending = {
    url: `${options.nodeUrl}/v1/tiered-attest-batch`,
    headers: headersOf(options, 'application/x-ndjson', `batch-${first}`),
    body,
    until: at + KNOWN_AGAIN_MS,
  };
  const sent = await sendUntilAnswered(sending, signal);
  if (sent.kind === 'refused') {
    // A line is at fault, or not all fit under the daily cap: each is told by itself.
    await state.end(first);
    await sendOneByOne(
      batch.filter(({ number }) => !state.accepted.has(number)),
      options,
    );
  } else if (sent.kind === 'accepted') await takeResults(sent, batch, first, options);
  else if (!signal.aborted) for (const line of batch) options.onRefused(line, sent.problem);
}

async function takeResults(
  { text }: Extract<Sent, { kind: 'accepted' }>,
  batch: readonly DecisionLine[],
  first: number,
  { state, onAccepted, onRefused }: SendOptions,
): Promise<void> {
  const value: unknown = JSON.parse(text);
  if (!answer.Check(value) || value.results.length !== batch.length) {
    throw new Error(`the node answered a batch with ${text.slice(0, 200)}`);
  }
  for (const [i, line] of batch.entries()) {
    const result = value.results[i];
    if (result === undefined || state.accepted.has(line.number)) continue;
    if ('attestationId' in result) {
      await state.accept(line.number, result.attestationId, digestOf(line.text));
      onAccepted();
    } else onRefused(line, `${result.code}: ${result.detail}`);
  }
  await state.end(first);
}

async function sendOneByOne(lines: readonly DecisionLine[], options: SendOptions): Promise<void> {
  const waiting = lines.values();
  const worker = async (): Promise<void> => {
    for (const line of waiting) {
      if (options.signal.aborted) return;
      await sendOne(line, options);
    }
  };
  await Promise.all(Array.from({ length: LINES }, worker));
}

async function sendOne(line: DecisionLine, options: SendOptions): Promise<void> {
  const { state, onAccepted, onRefused, signal } = options;
  const digest = digestOf(line.text);
  const { at } = await state.begin(line.number, { last: line.number, digest });
  const sending = {
    url: `${options.nodeUrl}/v1/tiered-attest`,
    headers: headersOf(options, 'application/json', String(line.number)),
    body: line.text,
    until: at + KNOWN_AGAIN_MS,
  };
  const sent = await sendUntilAnswered(sending, signal);
  const id = sent.kind === 'accepted' ? RECORDED.exec(sent.text)?.[1] : undefined;
  if (id !== undefined) {
    await state.accept(line.number, id, digest);
    onAccepted();
    return;
  }
  if (sent.kind === 'refused') await state.end(line.number);
  if (!signal.aborted) onRefused(line, sent.kind === 'accepted' ? sent.text : sent.problem);
}

/** `part`: of the file, so that what is sent again has the same idempotency key. */
function headersOf({ apiKey, state }: SendOptions, type: string, part: string): Readonly<Record<string, string>> {
  return { 'content-type': type, 'x-api-key': apiKey, 'idempotency-key': `${state.run}-${part}` };
}
