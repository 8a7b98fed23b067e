import type { Context } from 'koa';
import type { Addresses } from '../accounts/limits/client-address.ts';
import type { Holder, HolderKind } from '../accounts/limits/holder.ts';
import type { UncountedLimits } from '../accounts/limits/uncounted-limits.ts';
import { askedWork, askerOf } from './asked-work.ts';
import { callerAddress } from './authentication.ts';
import { strangerAt } from './gate.ts';

export interface UncountedAnswersOptions {
  readonly uncounted: Pick<UncountedLimits, 'take'>;
  /** The operator's proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: Addresses;
  /** Told of whoever is made to wait. Must not throw. */
  readonly onPaced: (holder: Holder) => void;
}

/** Who answers for a call wherever it comes from. */
const KNOWN_HOLDERS: ReadonlySet<HolderKind> = new Set(['account', 'wallet']);

/**
 * Slows down whoever makes a node answer again and again what no limit counts: refusals, keys and paths that do not exist,
 * the health. Each such answer is cheap, and a few hundred connections on which one follows the other at once would keep
 * the event loop from everybody else: past so many a second of an address, an account or a wallet each waits for its turn.
 */
export class UncountedAnswers {
  readonly #options: UncountedAnswersOptions;

  constructor(options: UncountedAnswersOptions) {
    this.#options = options;
  }

  /** To be awaited before an answer is sent: resolves when it may be, at once for what a limit has counted. `refused`: whom. */
  async pace(context: Context, refused: Holder = askerOf(context.req)): Promise<void> {
    if (askedWork(context.req).isCounted) return;
    const { trustedProxies, onPaced } = this.#options;
    const stranger = strangerAt(callerAddress(context.req, trustedProxies));
    const ofAddress = this.#wait(stranger);
    const ofHolder = KNOWN_HOLDERS.has(refused.kind) ? this.#wait(refused) : 0;
    const wait = Math.max(ofAddress, ofHolder);
    if (wait === 0) return;
    onPaced(ofHolder > ofAddress ? refused : stranger);
    await pause(wait, context);
  }

  #wait({ kind, id }: Holder): number {
    return this.#options.uncounted.take(`${kind}/${id}`);
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
