import { type Hash, type Hex, keccak256, type PrivateKeyAccount } from 'viem';
import { isUnsent, rpcAnswer } from './chain-answers.ts';
import type { EvmClient } from './chain-client.ts';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';

/** What a transaction offers for its gas, in wei. */
interface FeeQuote {
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
class FeeQuotes {
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

  /** The next one is looked up again: a node did not take this one. */
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

export interface ContractCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

/** A transaction that is on its way, or was sent into the unknown. */
export interface SentTransaction {
  readonly hash: Hash;
  /** Its place in the order of the account's transactions. */
  readonly nonce: number;
  readonly signed: Hex;
}

/** The chain's node said that it does not take a transaction, or was not there: it is nowhere. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** A wrong nonce or too small a fee is put right this often. */
const MOST_TRIES = 3;
const TRANSFER_GAS = 21_000n;

/**
 * Sends the transactions of one account, one after the other: a transaction whose predecessor is missing would wait for
 * ever, so a place in the order is used up only when its transaction may have gone out. One sender an account.
 */
export class OrderedSender {
  readonly #client: EvmClient;
  readonly #account: PrivateKeyAccount;
  readonly #fees: FeeQuotes;
  /** Null where it is to be asked of the chain. */
  #next: number | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: EvmClient, account: PrivateKeyAccount) {
    this.#client = client;
    this.#account = account;
    this.#fees = new FeeQuotes(client);
  }

  get address(): Hex {
    return this.#account.address;
  }

  /** Resolves once it went out, or may have. Throws `NotSentError` where it certainly did not. */
  send(call: ContractCall): Promise<SentTransaction> {
    const sent = this.#last.then(() => this.#send(call));
    this.#last = sent.catch(() => {});
    return sent;
  }

  /** Sends the same bytes again, which does no harm however often. Never throws. */
  async resend({ signed }: SentTransaction): Promise<void> {
    await this.#client.sendRawTransaction({ serializedTransaction: signed }).catch(() => {});
  }

  /** Fills a place that the chain has lost with a transfer of nothing, so that what comes after it can go on. */
  async fill(nonce: number): Promise<void> {
    const signed = await this.#sign({ to: this.address, data: '0x', gas: TRANSFER_GAS }, nonce);
    await this.#client.sendRawTransaction({ serializedTransaction: signed });
  }

  async #send(call: ContractCall): Promise<SentTransaction> {
    for (let tries = 1; ; tries++) {
      const { signed, nonce } = await this.#prepare(call);
      const sent = { hash: keccak256(signed), nonce, signed };
      try {
        await this.#client.sendRawTransaction({ serializedTransaction: signed });
      } catch (error) {
        if (this.#mayHaveGone(error)) return this.#used(sent);
        if (tries === MOST_TRIES || !canBePutRight(error)) throw new NotSentError('the transaction was not taken');
        await this.#putRight();
        continue;
      }
      return this.#used(sent);
    }
  }

  async #prepare(call: ContractCall): Promise<{ signed: Hex; nonce: number }> {
    try {
      this.#next ??= await this.#pending();
      return { signed: await this.#sign(call, this.#next), nonce: this.#next };
    } catch {
      throw new NotSentError('the chain cannot be read');
    }
  }

  #used(sent: SentTransaction): SentTransaction {
    this.#next = sent.nonce + 1;
    return sent;
  }

  /**
   * Only a refusal of the node, or nobody there to answer, shows that it is nowhere: gateways tell of their own
   * time-outs.
   */
  #mayHaveGone(error: unknown): boolean {
    const answer = rpcAnswer(error);
    return answer === null ? !isUnsent(error) : /already known|already imported|time[d -]*out/.test(answer.text);
  }

  /** Never goes back: a place that was given away may be on its way. */
  async #putRight(): Promise<void> {
    this.#fees.forget();
    const pending = await this.#pending().catch(() => 0);
    this.#next = Math.max(this.#next ?? 0, pending);
  }

  #pending(): Promise<number> {
    return this.#client.getTransactionCount({ address: this.address, blockTag: 'pending' });
  }

  async #sign({ to, data, gas }: ContractCall, nonce: number): Promise<Hex> {
    const { maxFeePerGas, maxPriorityFeePerGas } = await this.#fees.now();
    return this.#account.signTransaction({
      type: 'eip1559',
      chainId: PAYMENT_CHAIN_ID,
      nonce,
      to,
      data,
      gas,
      maxFeePerGas,
      maxPriorityFeePerGas,
    });
  }
}

/** Too low a nonce, one that is taken, too small a fee. Too little money is not put right by another try. */
function canBePutRight(error: unknown): boolean {
  const { text } = rpcAnswer(error) ?? { text: '' };
  return /nonce|underpriced|fee/.test(text) && !text.includes('insufficient');
}
