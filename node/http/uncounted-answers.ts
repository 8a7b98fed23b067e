import type { Context } from 'koa';
import type { Addresses } from '../limits/client-address.ts';
import type { Holder } from '../limits/holder.ts';
import type { UncountedLimits } from '../limits/uncounted-limits.ts';
import { askedWork } from './asked-work.ts';
import { callerAddress } from './authentication.ts';
import { strangerAt } from './gate.ts';

export interface UncountedAnswersOptions {
  readonly uncounted: Pick<UncountedLimits, 'take'>;
  /** The operator's proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: Addresses;
  /** Told of whoever is made to wait. Must not throw. */
  readonly onPaced: (holder: Holder) => void;
}

/** So long, and up to as much longer by chance: those who are made to wait do not come back in one moment. In milliseconds. */
const PAUSE_MS = 500;

/**
 * Slows down whoever makes a node answer again and again what no limit counts: refusals, keys and paths that do not exist,
 * the health. Each such answer is cheap, and a few hundred connections on which one follows the other at once would keep
 * the event loop from everybody else: past so many a second from an address each waits a moment before it is sent.
 */
export class UncountedAnswers {
  readonly #options: UncountedAnswersOptions;

  constructor(options: UncountedAnswersOptions) {
    this.#options = options;
  }

  /** To be awaited before an answer is sent: resolves when it may be, at once for what a limit has counted. */
  async pace(context: Context): Promise<void> {
    if (askedWork(context.req).isCounted) return;
    const { uncounted, trustedProxies, onPaced } = this.#options;
    const address = callerAddress(context, trustedProxies);
    if (uncounted.take(address)) return;
    onPaced(strangerAt(address));
    await pause(PAUSE_MS * (1 + Math.random()), context);
  }
}

/** Ends early where the caller has gone. */
async function pause(milliseconds: number, { res }: Context): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  res.once('close', resolve);
  await promise;
  clearTimeout(timer);
  res.off('close', resolve);
}
