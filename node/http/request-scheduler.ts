import type { IncomingMessage } from 'node:http';
import type { Accounts } from '../accounts/accounts.ts';
import { MAX_API_KEY_CHARACTERS } from '../accounts/key-text.ts';
import { type Addresses, addressKey } from '../accounts/limits/client-address.ts';
import { FairQueue } from '../accounts/limits/fair-queue.ts';
import { callerAddress, isTakenFrom } from './authentication.ts';

export interface RequestSchedulerOptions {
  /** Whose key it is, as far as that is known without reading anything. */
  readonly accounts: Pick<Accounts, 'peek'>;
  /** The operator's proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: Addresses;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
}

/** How long requests are begun in one turn of the event loop before what was begun may go on. In milliseconds. */
const BEGIN_MS = 4;
/**
 * The same where all were sent by one caller, whose records share a group if they are begun together. In milliseconds.
 */
const ALONE_MS = 20;
/** Requests that are begun in one turn at most. */
const MOST_BEGUN = 256;
/**
 * Requests of a class that are begun in a round, where others wait too: what asks after the health costs next to
 * nothing.
 */
const WEIGHTS = { health: 2, account: 4, stranger: 1 } as const;
/** Such requests that are begun as they come, whatever waits: in one turn, and of those one address's. */
const HEALTH_AT_ONCE = 16;
const HEALTH_OF_ADDRESS = 4;
const HEALTH = /^(?:\/verify)?\/v1\/health(?:\?|$)/;

type RequestClass = keyof typeof WEIGHTS;

/**
 * Begins requests as they come, while the event loop keeps up. Where it does not, those that came are begun in a fair
 * order (`FairQueue`), a few milliseconds' worth in a turn: however many requests some caller has open, another's next
 * one is begun within a turn or two, and who asks after the health at once. It is bounded by the bound on connections.
 */
export class RequestScheduler {
  readonly #options: RequestSchedulerOptions;
  readonly #now: () => number;
  readonly #queue = new FairQueue<RequestClass, () => void>(WEIGHTS);
  /** When the first request of this turn was begun; null before that. */
  #began: number | null = null;
  /** Of all requests that were begun in this turn; null where they were not all sent with the same. */
  #credentials: string | null = null;
  /** Requests after the health that were begun as they came in this turn, by address, and together. */
  readonly #healthBegun = new Map<string, number>();
  #healthInTurn = 0;
  #isArmed = false;

  constructor(options: RequestSchedulerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Requests that are not begun yet. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Begins a request, now or when it is its turn. One whose caller has gone meanwhile is never begun. */
  schedule(request: IncomingMessage, begin: () => void): void {
    if (this.#queue.size === 0 && this.#mayBegin(credentialsOf(request))) return begin();
    const { of, holder } = this.#classify(request);
    if (of === 'health' && this.#mayBeginHealth(holder)) return begin();
    this.#queue.push(of, holder, () => {
      if (!request.socket.destroyed) begin();
    });
    this.#arm();
  }

  /** It reads memory alone: to wait for a turn would take a hundred times as long as its answer. */
  #mayBeginHealth(address: string): boolean {
    const begun = this.#healthBegun.get(address) ?? 0;
    if (this.#healthInTurn >= HEALTH_AT_ONCE || begun >= HEALTH_OF_ADDRESS) return false;
    this.#healthBegun.set(address, begun + 1);
    this.#healthInTurn++;
    this.#arm();
    return true;
  }

  #mayBegin(credentials: string): boolean {
    if (this.#began === null) this.#credentials = credentials;
    else if (this.#credentials !== credentials) this.#credentials = null;
    return !this.#isSpent(this.#credentials === null ? BEGIN_MS : ALONE_MS);
  }

  #isSpent(milliseconds: number): boolean {
    if (this.#began !== null) return this.#now() - this.#began >= milliseconds;
    this.#began = this.#now();
    this.#arm();
    return false;
  }

  /** At the end of a turn another one begins. */
  #arm(): void {
    if (this.#isArmed) return;
    this.#isArmed = true;
    setImmediate(() => this.#turn());
  }

  /** Each in a callback of its own, so that what follows from it at once counts as its time. */
  #turn(): void {
    this.#isArmed = false;
    this.#began = null;
    this.#credentials = null;
    this.#healthBegun.clear();
    this.#healthInTurn = 0;
    // One holder alone waits for itself.
    const isFair = this.#queue.holders > 1;
    const count = Math.min(this.#queue.size, MOST_BEGUN);
    for (let n = 0; n < count; n++) setImmediate(() => this.#beginNext(isFair));
    if (count > 0) this.#arm();
  }

  #beginNext(isFair: boolean): void {
    if (this.#isSpent(BEGIN_MS) && isFair) return;
    this.#queue.shift()?.();
  }

  #classify(request: IncomingMessage): { readonly of: RequestClass; readonly holder: string } {
    const { accounts, trustedProxies } = this.#options;
    const address = callerAddress(request, trustedProxies);
    if (HEALTH.test(request.url ?? '')) return { of: 'health', holder: addressKey(address) };
    const apiKey = request.headers['x-api-key'];
    const isKey = typeof apiKey === 'string' && apiKey !== '' && apiKey.length <= MAX_API_KEY_CHARACTERS;
    const found = isKey ? accounts.peek(apiKey) : undefined;
    if (found === undefined || !isTakenFrom(found, address)) return { of: 'stranger', holder: addressKey(address) };
    return { of: 'account', holder: found.caller.account.id };
  }
}

/** What tells callers apart at no cost. */
function credentialsOf({ headers, socket }: IncomingMessage): string {
  return String(headers['x-api-key'] ?? headers['x-forwarded-for'] ?? socket.remoteAddress);
}
