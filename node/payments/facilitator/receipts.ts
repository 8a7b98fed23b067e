import { setTimeout as sleep } from 'node:timers/promises';
import { formatTransactionReceipt, type Hash, type TransactionReceipt } from 'viem';
import type { EvmClient } from './chain-client.ts';
import type { OrderedSender, SentTransaction } from './ordered-sender.ts';

/** The transaction is not in a block yet. It may still come into one. */
export class NotMinedError extends Error {
  override readonly name = 'NotMinedError';
}

interface Awaited extends SentTransaction {
  readonly receipt: PromiseWithResolvers<TransactionReceipt>;
  /** When it was last sent, on this machine's own clock. */
  sentAt: number;
  isLookedAt: boolean;
  /** The chain is past its place, and yet it did not show. */
  isPassed: boolean;
}

/** Pauses between two looks at the chain: short after something happened, then longer. In milliseconds. */
const FIRST_PAUSE_MS = 4;
const MAX_PAUSE_MS = 250;
/** A node far away is not asked all the time: pauses are at least so many times as long as an answer takes. */
const PAUSES_PER_ANSWER = 2;
/** A transaction that shows in no block for so long may have been lost on its way. In milliseconds. */
const RESEND_MS = 3_000;
/** Up to here each transaction is asked for; above, blocks are read and searched. */
const FEW = 8;
const MOST_BLOCKS = 32;
const AT_ONCE = 16;
/** Lost places that are filled in one go. */
const MOST_FILLED = 16;

/**
 * Waits for transactions of one account to be mined, and brings about that they can be: what the chain's node lost is
 * sent again. One look at the chain serves all that wait, and none is taken while nothing waits.
 */
export class Receipts implements AsyncDisposable {
  readonly #client: EvmClient;
  readonly #sender: OrderedSender;
  readonly #awaited = new Map<Hash, Awaited>();
  readonly #end = new AbortController();
  #loop: Promise<void> | undefined;
  #wake = new AbortController();
  /** Last block that was searched. */
  #searched = 0n;

  constructor(client: EvmClient, sender: OrderedSender) {
    this.#client = client;
    this.#sender = sender;
  }

  /** Follows a transaction until it is mined, whether or not anybody waits for that. */
  follow(sent: SentTransaction): void {
    const receipt = Promise.withResolvers<TransactionReceipt>();
    receipt.promise.catch(() => {});
    this.#awaited.set(sent.hash, { ...sent, receipt, sentAt: performance.now(), isLookedAt: false, isPassed: false });
    this.#loop ??= this.#run();
    this.#wake.abort();
  }

  /** Throws `NotMinedError` after so many milliseconds, or where the node ends. */
  async of(hash: Hash, milliseconds: number): Promise<TransactionReceipt> {
    const awaited = this.#awaited.get(hash);
    if (awaited === undefined) return this.#minedBefore(hash);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new NotMinedError('not mined in time')), milliseconds);
    try {
      return await Promise.race([awaited.receipt.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    this.#wake.abort();
    await this.#loop;
    for (const { receipt } of this.#awaited.values()) receipt.reject(new NotMinedError('no longer waited for'));
  }

  async #minedBefore(hash: Hash): Promise<TransactionReceipt> {
    const receipt = await this.#mined(hash).catch(() => null);
    if (receipt === null) throw new NotMinedError('not mined');
    return receipt;
  }

  /** Null where it is in no block. Throws what the client throws. */
  async #mined(hash: Hash): Promise<TransactionReceipt | null> {
    const receipt = await this.#client.request({ method: 'eth_getTransactionReceipt', params: [hash] });
    return receipt === null ? null : formatTransactionReceipt(receipt);
  }

  async #run(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (this.#awaited.size > 0 && !this.#end.signal.aborted) {
      const started = performance.now();
      const isNews = await unlessAborted(this.#look(), this.#end.signal).catch(() => false);
      const answerMs = performance.now() - started;
      pause = isNews ? FIRST_PAUSE_MS : Math.min(2 * pause, MAX_PAUSE_MS);
      this.#wake = new AbortController();
      // A transaction that came during the look shortens the pause, as one does that comes during the pause.
      if ([...this.#awaited.values()].some(({ isLookedAt }) => !isLookedAt)) pause = FIRST_PAUSE_MS;
      const ms = Math.min(MAX_PAUSE_MS, Math.max(pause, PAUSES_PER_ANSWER * answerMs));
      await sleep(ms, undefined, { signal: this.#wake.signal }).catch(() => {});
    }
    this.#loop = undefined;
  }

  /** Whether anything happened. The head is read first: what is mined after it is found by the next look. */
  async #look(): Promise<boolean> {
    const head = await this.#client.getBlockNumber();
    const fresh = [...this.#awaited.values()].filter(({ isLookedAt }) => !isLookedAt);
    for (const transaction of fresh) transaction.isLookedAt = true;
    const candidates = head > this.#searched ? await this.#candidates(head, fresh) : fresh;
    await inSequence(candidates, (transaction) => this.#ask(transaction));
    this.#searched = head;
    await this.#help();
    return candidates.length > 0;
  }

  /** Those that may have been mined since the last look. */
  async #candidates(head: bigint, fresh: readonly Awaited[]): Promise<readonly Awaited[]> {
    const blocks = head - this.#searched;
    if (this.#awaited.size <= FEW || blocks > MOST_BLOCKS) return [...this.#awaited.values()];
    const numbers = Array.from({ length: Number(blocks) }, (_, i) => this.#searched + 1n + BigInt(i));
    const read = await Promise.all(numbers.map((blockNumber) => this.#client.getBlock({ blockNumber })));
    const mined = read.flatMap(({ transactions }) => transactions.flatMap((hash) => this.#awaited.get(hash) ?? []));
    return [...new Set([...mined, ...fresh])];
  }

  async #ask(transaction: Awaited): Promise<void> {
    const receipt = await this.#mined(transaction.hash).catch(() => null);
    if (receipt === null) return;
    this.#awaited.delete(transaction.hash);
    transaction.receipt.resolve(receipt);
  }

  /** Sends again what does not show, and fills places before it that the chain has lost. */
  async #help(): Promise<void> {
    const now = performance.now();
    const overdue = [...this.#awaited.values()].filter(({ sentAt }) => now - sentAt > RESEND_MS);
    if (overdue.length === 0) return;
    await inSequence(overdue, (transaction) => this.#ask(transaction));
    const lost = overdue.filter(({ hash }) => this.#awaited.has(hash));
    if (lost.length === 0) return;
    const first = Math.min(...[...this.#awaited.values()].map(({ nonce }) => nonce));
    const reached = await this.#client.getTransactionCount({ address: this.#sender.address });
    for (let nonce = reached; nonce < Math.min(first, reached + MOST_FILLED); nonce++) await this.#sender.fill(nonce);
    for (const transaction of lost) {
      if (transaction.nonce >= reached) await this.#sender.resend(transaction);
      else if (transaction.isPassed) this.#giveUp(transaction);
      // It may have been mined since it was asked for: once more.
      else transaction.isPassed = true;
      transaction.sentAt = performance.now();
    }
  }

  /** Another transaction took its place: it can never be mined. */
  #giveUp(transaction: Awaited): void {
    this.#awaited.delete(transaction.hash);
    transaction.receipt.reject(new NotMinedError('replaced'));
  }
}

async function inSequence<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await Promise.all(items.slice(start, start + AT_ONCE).map(act));
  }
}

/** What comes of some work, unless the signal comes first: then it throws, and the work is left to itself. */
export async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abandon = (): void => reject(signal.reason);
  signal.addEventListener('abort', abandon, { once: true });
  if (signal.aborted) abandon();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}
