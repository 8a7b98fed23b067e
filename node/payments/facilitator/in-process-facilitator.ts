import { InMemoryPendingSettlementStore } from '@x402/core/facilitator';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { type Hex, isHash } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type WalletAddress, walletAddress } from '../../../protocol/payments/payment.ts';
import type { PaymentRequirements } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import { fromChain, hexOf } from './chain-answers.ts';
import type { EvmClient } from './chain-client.ts';
import { isPublicWallet } from './config.ts';
import type { Facilitator, Settled, SignedAuthorization } from './contract.ts';
import { FacilitatorError } from './facilitator-error.ts';
import { OrderedSender } from './ordered-sender.ts';
import { payloadOf } from './payment-payload.ts';
import { Receipts } from './receipts.ts';
import { emptyTrace, settlementSigner, type SignerParts, type Trace } from './settlement-signer.ts';
import { usdcAbi } from './usdc-abi.ts';

export interface InProcessOptions {
  readonly client: EvmClient;
  /** Of an account that holds ether for fees, and that nothing else sends from. */
  readonly key: Hex;
  /** How long a settlement waits to be mined. In milliseconds. */
  readonly waitMs?: number;
}

/** Fifteen blocks. */
const SETTLE_WAIT_MS = 30_000;
/** Fees of some hundred settlements in quiet times. In wei. */
const LEAST_BALANCE = 20_000_000_000_000n;
/**
 * Checking a signature keeps this process busy for milliseconds. Were all payments of a rush checked side by side, the
 * chain's answers would wait behind them until they counted as late.
 */
const CHECKED_AT_ONCE = 16;
const UNTOLD = 'payment_refused';

/**
 * Settles by itself, from an account of the operator: the stock scheme on the node's own sender. The scheme takes a
 * chain that does not answer for a bad payment; what really happened is traced, and told apart here.
 */
export class InProcessFacilitator implements Facilitator {
  readonly settlers: readonly WalletAddress[];
  readonly #parts: SignerParts;
  readonly #slots = new Semaphore({ places: CHECKED_AT_ONCE });
  /** Transactions of settlements that were given up waiting for: asked again, they are waited for again. */
  readonly #pending = new InMemoryPendingSettlementStore();

  /** Throws where the key is public knowledge. */
  constructor({ client, key, waitMs = SETTLE_WAIT_MS }: InProcessOptions) {
    const account = privateKeyToAccount(key);
    if (isPublicWallet(account.address)) throw new Error('the private key of the facilitator is public');
    const sender = new OrderedSender(client, account);
    this.#parts = { client, sender, receipts: new Receipts(client, sender), waitMs };
    this.settlers = [walletAddress(account.address)];
  }

  async verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<void> {
    const trace = emptyTrace();
    const { isValid, invalidReason } = await this.#scheme(trace, (scheme) =>
      scheme.verify(payloadOf(payment, terms), terms),
    ).catch(() => ({ isValid: false, invalidReason: UNTOLD }));
    if (isValid) return;
    if (trace.chainFailed) throw new FacilitatorError('unreachable', 'chain_unreachable');
    throw new FacilitatorError('refused', invalidReason ?? UNTOLD);
  }

  async settle(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Settled> {
    const trace = emptyTrace();
    const { success, errorReason, transaction } = await this.#scheme(trace, (scheme) =>
      scheme.settle(payloadOf(payment, terms), terms),
    ).catch(() => ({ success: false, errorReason: UNTOLD, transaction: '' }));
    if (success && isHash(transaction)) return { transaction };
    const reason = errorReason ?? UNTOLD;
    if (trace.transaction !== null) return this.#afterFailure(payment, trace.transaction, reason);
    if (trace.chainFailed) throw new FacilitatorError('unreachable', 'chain_unreachable');
    if (trace.notSent) throw new FacilitatorError('unreachable', 'settlement_not_sent');
    throw new FacilitatorError('refused', reason);
  }

  async probe(): Promise<void> {
    const { client, sender } = this.#parts;
    const balance = await client.getBalance({ address: sender.address }).catch(() => null);
    if (balance === null) throw new FacilitatorError('unreachable', 'chain_unreachable');
    if (balance < LEAST_BALANCE) throw new FacilitatorError('unreachable', 'facilitator_out_of_ether');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.receipts[Symbol.asyncDispose]();
  }

  /** Has the stock scheme do some work. What only waits for the chain holds no slot: thousands may. */
  async #scheme<Answer>(trace: Trace, work: (scheme: ExactEvmScheme) => Promise<Answer>): Promise<Answer> {
    const place = await this.#slots.enter();
    const release = () => place[Symbol.dispose]();
    const scheme = new ExactEvmScheme(settlementSigner(this.#parts, trace, release), {
      simulateInSettle: true,
      pendingSettlementStore: this.#pending,
    });
    try {
      return await work(scheme);
    } finally {
      release();
    }
  }

  /** Our transaction moved nothing, or shows in no block yet. One that failed with the authorization unused is over. */
  async #afterFailure({ authorization }: SignedAuthorization, transaction: Hex, reason: string): Promise<never> {
    const { client, receipts } = this.#parts;
    const receipt = await receipts.of(transaction, 0).catch(() => null);
    if (receipt?.status === 'reverted') {
      const isUsed = await fromChain(() =>
        client.readContract({
          address: USDC.asset,
          abi: usdcAbi,
          functionName: 'authorizationState',
          args: [hexOf(authorization.from), hexOf(authorization.nonce)],
        }),
      ).catch(() => null);
      if (isUsed === false) throw new FacilitatorError('refused', reason);
    }
    throw new FacilitatorError('unknown-outcome', reason, transaction);
  }
}
