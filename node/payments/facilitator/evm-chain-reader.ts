import type { Hash, Hex } from 'viem';
import type { WalletAddress } from '../../../protocol/payments/payment.ts';
import { isSameAddress, MAX_LIFE_SECONDS } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { carriesOut, findEnd } from './authorization-log.ts';
import { fromChain, hexOf } from './chain-answers.ts';
import type { EvmClient } from './chain-client.ts';
import {
  type ChainAccount,
  type ChainBlock,
  type ChainReader,
  type PaymentOutcome,
  type SoughtPayment,
  unpaid,
} from './contract.ts';
import { usdcAbi } from './usdc-abi.ts';

export interface ChainReaderOptions {
  readonly client: EvmClient;
  /** Accounts that settle for this node; null where anyone may. */
  readonly settlers: readonly WalletAddress[] | null;
}

/** The chain's newest blocks may still be replaced: only so long after its end is an authorization over. In seconds. */
const EXPIRY_MARGIN_SECONDS = 6;
/** What the clocks of node and chain usually differ by at most. In seconds. */
const CLOCK_SKEW_SECONDS = 120;
/**
 * The longest that an authorization is taken to have lived when it was first seen: its longest life, and what the
 * node's clock may have been ahead then. In seconds.
 */
const LONGEST_SOUGHT_SECONDS = MAX_LIFE_SECONDS + 3_600;

const TOKEN = { address: USDC.asset, abi: usdcAbi } as const;

/** Reads payments and accounts from the chain's node. */
export class EvmChainReader implements ChainReader {
  readonly #client: EvmClient;
  readonly #settlers: readonly WalletAddress[] | null;

  constructor({ client, settlers }: ChainReaderOptions) {
    this.#client = client;
    this.#settlers = settlers;
  }

  latestBlock(): Promise<ChainBlock> {
    return fromChain(async () => {
      const { number, hash, timestamp } = await this.#client.getBlock();
      return { number, hash, timestamp: Number(timestamp) };
    });
  }

  async account(of: WalletAddress): Promise<ChainAccount> {
    const block = await this.latestBlock();
    const at = { address: hexOf(of), blockNumber: block.number };
    return fromChain(async () => {
      const [transactionCount, nativeBalance, usdcBalance, code] = await Promise.all([
        this.#client.getTransactionCount(at),
        this.#client.getBalance(at),
        this.#balance(at.address, block.number),
        this.#client.getCode(at),
      ]);
      return { block, transactionCount, nativeBalance, usdcBalance, isContract: code !== undefined };
    });
  }

  usdcBalance(of: WalletAddress): Promise<bigint> {
    return fromChain(() => this.#balance(hexOf(of)));
  }

  isContract(of: WalletAddress): Promise<boolean> {
    return fromChain(async () => (await this.#client.getCode({ address: hexOf(of) })) !== undefined);
  }

  async firstTransaction(of: WalletAddress, head: ChainBlock, signal: AbortSignal): Promise<ChainBlock> {
    return fromChain(async () => {
      const blockNumber = await firstBlockThat(head.number, async (middle) => {
        signal.throwIfAborted();
        return (await this.#client.getTransactionCount({ address: hexOf(of), blockNumber: middle })) > 0;
      });
      const { number, hash, timestamp } = await this.#client.getBlock({ blockNumber });
      return { number, hash, timestamp: Number(timestamp) };
    });
  }

  async paymentOf(sought: SoughtPayment, hint?: Hash): Promise<PaymentOutcome> {
    try {
      return await fromChain(async () => {
        const hinted = hint === undefined ? null : await this.#judged(sought, hint).catch(() => null);
        return hinted?.kind === 'paid' ? hinted : await this.#search(sought);
      });
    } catch {
      return { kind: 'unknown' };
    }
  }

  /**
   * State and time are of one block, so that an authorization that is not used there and over by then never will be. A
   * used one without a trace is no proof of anything.
   */
  async #search({ authorization, since }: SoughtPayment): Promise<PaymentOutcome> {
    const block = await this.latestBlock();
    const { from, nonce, validBefore } = authorization;
    const isUsed = await this.#isUsed(hexOf(from), hexOf(nonce), block.number);
    if (!isUsed) return unused(block.timestamp >= validBefore + EXPIRY_MARGIN_SECONDS);
    const end = await this.#endOf({ authorization, since }, block);
    return end === null ? { kind: 'unknown' } : this.#judged({ authorization, since }, end);
  }

  /**
   * The transaction that ended a used authorization; null where there is no trace of it. The node's clock may have been
   * ahead when it first saw it: where nothing is found since then, what lies before is searched too, as far back as the
   * authorization may have lived. A nonce is used once, so whatever is found is that use.
   */
  async #endOf({ authorization, since }: SoughtPayment, head: ChainBlock): Promise<Hash | null> {
    const first = await firstBlockSince(this.#client, head, Math.floor(since / 1_000) - CLOCK_SKEW_SECONDS);
    const end = await findEnd(this.#client, authorization, { from: first, to: head.number });
    if (end !== null) return end;
    const least = await firstBlockSince(this.#client, head, authorization.validBefore - LONGEST_SOUGHT_SECONDS);
    return findEnd(this.#client, authorization, { from: least, to: first - 1n });
  }

  /** A transaction that another sent for another service of the same payee pays for that one. */
  async #judged({ authorization }: SoughtPayment, transaction: Hash): Promise<PaymentOutcome> {
    const receipt = await this.#client.getTransactionReceipt({ hash: transaction });
    const isOurs = this.#settlers?.some((settler) => isSameAddress(receipt.from, settler)) ?? true;
    if (!isOurs || !carriesOut(receipt, authorization)) return { kind: 'burnt', reason: 'authorization_used' };
    return { kind: 'paid', transaction };
  }

  /** At a block, or at the last one. */
  #balance(account: Hex, blockNumber?: bigint): Promise<bigint> {
    const at = blockNumber === undefined ? {} : { blockNumber };
    return this.#client.readContract({ ...TOKEN, functionName: 'balanceOf', args: [account], ...at });
  }

  #isUsed(payer: Hex, nonce: Hex, blockNumber: bigint): Promise<boolean> {
    return this.#client.readContract({
      ...TOKEN,
      functionName: 'authorizationState',
      args: [payer, nonce],
      blockNumber,
    });
  }
}

/** Of an authorization that is not used: once its time has passed, it can never be. */
function unused(isOver: boolean): PaymentOutcome {
  return unpaid(isOver ? 'authorization_expired' : 'authorization_unused', { isOver });
}

/**
 * Number of the first block of a time (epoch seconds) or after it; the head where there is none. Found by ever longer
 * steps back from the head, then by halving. Throws what the client throws.
 */
export async function firstBlockSince(client: EvmClient, head: ChainBlock, seconds: number): Promise<bigint> {
  let late = head.number;
  let early = late;
  for (let step = 1n; early > 0n; step *= 2n) {
    early = late > step ? late - step : 0n;
    if ((await timeOf(client, early)) < seconds) break;
    late = early;
  }
  while (late - early > 1n) {
    const middle = (early + late) / 2n;
    if ((await timeOf(client, middle)) < seconds) early = middle;
    else late = middle;
  }
  return late;
}

/** Number of the first block, up to a head that it holds for, that a condition holds for as for all after it. */
export async function firstBlockThat(head: bigint, holds: (block: bigint) => Promise<boolean>): Promise<bigint> {
  let low = 0n;
  let high = head;
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await holds(middle)) high = middle;
    else low = middle + 1n;
  }
  return low;
}

async function timeOf(client: EvmClient, blockNumber: bigint): Promise<number> {
  return Number((await client.getBlock({ blockNumber })).timestamp);
}
