import { type Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Tries of what the node could not take, and the first pause between them, in milliseconds. */
const TRIES = 12;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** In the answer to a call that the account may make again tomorrow. */
const DAILY_CAP = '"code":"daily-cap-exceeded"';

export interface Sending {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `refused`: it would be again. `failed`: the node could not take it, however often it was tried. */
export type Sent =
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'refused' | 'failed'; readonly problem: string };

/** Sends until there is an answer that stands; a lost node is waited for. */
export async function sendUntilAnswered(sending: Sending, agent: Agent, signal: AbortSignal): Promise<Sent> {
  let problem = '';
  for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt++) {
    if (attempt > 0) await sleep(Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), MAX_PAUSE_MS));
    try {
      const { status, text } = await post(sending, agent);
      if (status === 200) return { kind: 'accepted', text };
      problem = text;
      const isBusy = status >= 500 || status === 408 || (status === 429 && !text.includes(DAILY_CAP));
      if (!isBusy) return { kind: 'refused', problem };
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  return { kind: 'failed', problem };
}

function post(
  { url, headers, body }: Sending,
  agent: Agent,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks: Uint8Array[] = [];
      response.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
