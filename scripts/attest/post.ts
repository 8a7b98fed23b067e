import { setTimeout as sleep } from 'node:timers/promises';
import { doubledPause } from '../../node/concurrency/backoff.ts';
import { HttpError, httpRequest } from '../../node/outbound/http-client.ts';

/** Tries of what the node could not take, and the first pause between them, in milliseconds. */
const TRIES = 12;
const PAUSES = { firstMs: 250, mostMs: 5_000 };
/** A batch is answered when its records are on the disk; its answer has some hundred bytes for each. */
const LIMITS = { timeoutMs: 300_000, maxBytes: 64 << 20 };
/** In the answer to a call that the account may make again tomorrow. */
const DAILY_CAP = '"code":"daily-cap-exceeded"';
const TOO_LATE = 'it was first sent too long ago to be sent again';

export interface Sending {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Not tried after this time, in epoch milliseconds: the node may not know it again. */
  readonly until: number;
}

/** `refused`: it would be again. `failed`: the node could not take it, however often it was tried. */
export type Sent =
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'refused' | 'failed'; readonly problem: string };

/** Sends until there is an answer that stands; a lost node is waited for. */
export async function sendUntilAnswered(request: Sending, signal: AbortSignal): Promise<Sent> {
  let problem = '';
  for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt++) {
    if (attempt > 0) await sleep(doubledPause(attempt - 1, PAUSES));
    if (Date.now() >= request.until) return { kind: 'failed', problem: TOO_LATE };
    try {
      const { status, bytes } = await httpRequest(request.url, { ...LIMITS, ...request, method: 'POST' });
      const text = Buffer.from(bytes).toString();
      if (status === 200) return { kind: 'accepted', text };
      problem = text;
      const isBusy = status >= 500 || status === 408 || (status === 429 && !text.includes(DAILY_CAP));
      if (!isBusy) return { kind: 'refused', problem };
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      if (error instanceof HttpError && error.code === 'redirect') return { kind: 'refused', problem };
    }
  }
  return { kind: 'failed', problem };
}
