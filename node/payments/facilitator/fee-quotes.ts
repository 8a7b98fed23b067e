import type { EvmClient } from './chain-client.ts';

/** What a transaction offers for its gas, in wei. */
export interface FeeQuote {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What Base's sequencer is content with. In wei. */
const PRIORITY_FEE = 1_000_000n;
/** Room for the base fee to rise while a transaction waits; what is not needed is not paid. */
const BASE_FEE_FACTOR = 4n;
/** In milliseconds. */
const FRESH_MS = 2_000;

/** Looks the base fee up once for all transactions of a moment. */
export class FeeQuotes {
  readonly #client: EvmClient;
  #quote: Promise<FeeQuote> | undefined;
  #until = 0;

  constructor(client: EvmClient) {
    this.#client = client;
  }

  /** Throws what the client throws. */
  now(): Promise<FeeQuote> {
    if (this.#quote === undefined || performance.now() > this.#until) {
      this.#until = performance.now() + FRESH_MS;
      const quote = this.#look();
      quote.catch(() => this.forget());
      this.#quote = quote;
    }
    return this.#quote;
  }

  /** The next one is looked up anew: a node did not take this one. */
  forget(): void {
    this.#quote = undefined;
  }

  async #look(): Promise<FeeQuote> {
    const { baseFeePerGas } = await this.#client.getBlock();
    return {
      maxFeePerGas: BASE_FEE_FACTOR * (baseFeePerGas ?? 0n) + PRIORITY_FEE,
      maxPriorityFeePerGas: PRIORITY_FEE,
    };
  }
}
