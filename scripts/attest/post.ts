import { setTimeout as sleep } from 'node:timers/promises';
import { doubledPause } from '../../node/concurrency/backoff.ts';
import { HttpError, httpRequest } from '../../node/outbound/http-client.ts';
import { isBeforeWork, provesNothingRecorded } from './refusal.ts';
import { isKnownAgain } from './unanswered.ts';

/** Tries of what the node could not take, and the first pause between them, in milliseconds. */
const TRIES = 12;
const PAUSES = { firstMs: 250, mostMs: 5_000 };
/** A batch is answered when its records are on the disk; its answer has some hundred bytes for each. */
const LIMITS = { timeoutMs: 300_000, maxBytes: 64 << 20 };
const TOO_LATE = 'by the time when it was first sent a node may not know it again';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether no node may have looked at it before. */
  readonly isFirst: boolean;
  /** When it was first sent, in epoch milliseconds: it is tried for as long as the node surely knows it again. */
  readonly at: number;
}

/**
 * `refused`: the node says why, and nothing of it is recorded. `unknown`: whether anything is, no answer tells.
 * `not-taken`: nothing is, as no node has looked at it yet.
 */
export type Sent =
  | { readonly kind: 'accepted'; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'not-taken' | 'unknown'; readonly problem: string };

/** Sends until there is an answer that stands; a lost node is waited for. */
export async function sendUntilAnswered(post: Post, signal: AbortSignal): Promise<Sent> {
  let problem = '';
  let isFirst = post.isFirst;
  for (let attempt = 0; attempt < TRIES && !signal.aborted; attempt++) {
    if (attempt > 0) await sleep(doubledPause(attempt - 1, PAUSES));
    if (!isKnownAgain(post.at)) return { kind: 'unknown', problem: TOO_LATE };
    try {
      const answer = await httpRequest(post.url, { ...LIMITS, ...post, method: 'POST' });
      const { status } = answer;
      const text = Buffer.from(answer.bytes).toString();
      if (status === 200) return { kind: 'accepted', text };
      if (provesNothingRecorded(answer, isFirst)) return { kind: 'refused', problem: text };
      problem = `${status} ${text}`;
      isFirst &&= isBeforeWork(answer);
      if (status < 500 && status !== 408 && status !== 429) return { kind: 'unknown', problem };
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      isFirst = false;
      if (error instanceof HttpError && error.code === 'redirect') return { kind: 'unknown', problem };
    }
  }
  return { kind: isFirst ? 'not-taken' : 'unknown', problem };
}
