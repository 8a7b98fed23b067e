import { createPublicClient, custom, defineChain, type EIP1193RequestFn, RpcRequestError } from 'viem';
import { getHttpRpcClient, type HttpRpcClient } from 'viem/utils';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';

interface Question {
  readonly method: string;
  readonly params?: unknown;
}

interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

interface Waiting extends PromiseWithResolvers<Reply> {
  readonly question: Question;
}

/** Short questions that change nothing. What moves money goes alone, and so does what a node may take long over. */
const BATCHED: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionReceipt',
]);
/** What providers take at once. */
const MOST_TOGETHER = 40;

/**
 * Asks a chain's node over HTTP. Questions that come in the same turn of the event loop go in one request: under load a
 * request for each would cost more than all else of a payment. A node that takes no batches is asked one by one.
 */
export class RpcBatches {
  readonly #url: string;
  readonly #client: HttpRpcClient;
  #waiting: Waiting[] = [];
  #isRefused = false;

  /** `timeout`: for one request, in milliseconds. */
  constructor(url: string, timeout: number) {
    this.#url = url;
    this.#client = getHttpRpcClient(url, { timeout });
  }

  /** As EIP-1193 has it. Throws `RpcRequestError` where the node says no, and what the HTTP client throws. */
  readonly request: EIP1193RequestFn = async (question: Question) => {
    const isAlone = this.#isRefused || !BATCHED.has(question.method);
    const { error, result } = await (isAlone ? this.#askAlone(question) : this.#askTogether(question));
    if (error !== undefined) throw new RpcRequestError({ body: { ...question }, error, url: this.#url });
    // Its kind follows from the method, which the client knows.
    return result as never;
  };

  #askTogether(question: Question): Promise<Reply> {
    const waiting = { question, ...Promise.withResolvers<Reply>() };
    if (this.#waiting.push(waiting) === 1) setImmediate(() => this.#send());
    return waiting.promise;
  }

  #send(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < all.length; start += MOST_TOGETHER) {
      const batch = all.slice(start, start + MOST_TOGETHER);
      this.#ask(batch).catch((error: unknown) => batch.forEach(({ reject }) => reject(error)));
    }
  }

  async #ask(batch: readonly Waiting[]): Promise<void> {
    const replies = batch.length === 1 ? null : await this.#askBatch(batch);
    batch.forEach(({ question, resolve }, i) => resolve(replies?.get(i) ?? this.#askAlone(question)));
  }

  /** By their places in the batch; those that the node left out are missing. Null where it takes no batches. */
  async #askBatch(batch: readonly Waiting[]): Promise<Map<number, Reply> | null> {
    const body = batch.map(({ question }, id) => ({ ...question, id }));
    const answer: unknown = await this.#client.request({ body });
    if (!Array.isArray(answer)) {
      this.#isRefused = true;
      return null;
    }
    const replies = new Map<number, Reply>();
    for (const reply of answer) if (isReply(reply)) replies.set(reply.id, reply);
    return replies;
  }

  async #askAlone(question: Question): Promise<Reply> {
    const { error, result } = await this.#client.request({ body: { ...question } });
    return error === undefined ? { result } : { error };
  }
}

function isReply(value: unknown): value is Reply & { readonly id: number } {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'number';
}

/** In milliseconds. */
const RPC_TIMEOUT_MS = 5_000;

/** A client of the chain's node. It asks once: anyone who asks again knows whether that does harm. */
export function openChainClient(rpcUrl: string) {
  const chain = defineChain({
    id: PAYMENT_CHAIN_ID,
    name: 'Base',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  return createPublicClient({
    chain,
    transport: custom(new RpcBatches(rpcUrl, RPC_TIMEOUT_MS), { retryCount: 0 }),
    cacheTime: 0,
  });
}

export type EvmClient = ReturnType<typeof openChainClient>;
