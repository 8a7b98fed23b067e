import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DecisionLine } from './decision-file.ts';
import type { State } from './state-file.ts';

/** Requests under way at once. */
const CONNECTIONS = 32;
/** Tries of one record that the node could not take, and the first pause between them, in milliseconds. */
const TRIES = 12;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

export interface SendOptions {
  /** `{node_url}/v1/tiered-attest`. */
  readonly url: URL;
  readonly apiKey: string;
  readonly state: State;
  readonly signal: AbortSignal;
  readonly onAccepted: () => void;
  readonly onRefused: (line: DecisionLine, problem: string) => void;
}

/** Sends every line that was not accepted before. A refused line is reported and passed over; a lost node is waited for. */
export async function sendAll(lines: AsyncIterable<DecisionLine>, options: SendOptions): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const iterator = lines[Symbol.asyncIterator]();
  const worker = async () => {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (options.signal.aborted) return;
      if (!options.state.accepted.has(next.value.number)) await sendOne(next.value, agent, options);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  } finally {
    agent.destroy();
  }
}

async function sendOne(line: DecisionLine, agent: Agent, options: SendOptions): Promise<void> {
  const { state, onAccepted, onRefused, signal } = options;
  let failure = '';
  for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt++) {
    if (attempt > 0) await sleep(Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS));
    try {
      const { status, text } = await post(line, agent, options);
      const id = /"attestationId":"(att_[a-z0-9]+_[0-9A-Z]{26})"/.exec(text)?.[1];
      if (status === 200 && id !== undefined) {
        await state.accept(line.number, id);
        onAccepted();
        return;
      }
      failure = text;
      if (status < 500 && status !== 429 && status !== 408) break;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
  }
  if (!signal.aborted) onRefused(line, failure);
}

function post(
  line: DecisionLine,
  agent: Agent,
  { url, apiKey, state }: SendOptions,
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': apiKey,
    'idempotency-key': `${state.run}-${line.number}`,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Uint8Array[] = [];
      response.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    outgoing.on('error', reject);
    outgoing.end(line.text);
  });
}
