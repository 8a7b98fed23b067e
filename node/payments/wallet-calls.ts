import { WALLET_ALLOWANCE } from '../limits/allowances.ts';
import { PaymentError } from './payment-error.ts';

/** Counts the paid calls of each wallet from its signature to their answer. */
export class WalletCalls {
  readonly #wallets = new Map<string, number>();
  readonly #most: number;

  constructor(most: number = WALLET_ALLOWANCE.callsUnderWay) {
    this.#most = most;
  }

  /**
   * For a wallet that has proven itself: a name alone must not fill its places. Holds until it is disposed, once. Throws
   * `PaymentError` `wallet-busy`.
   */
  enter(payer: string): Disposable {
    const count = this.#wallets.get(payer) ?? 0;
    if (count >= this.#most) throw new PaymentError('wallet-busy');
    this.#wallets.set(payer, count + 1);
    return { [Symbol.dispose]: () => this.#leave(payer) };
  }

  #leave(payer: string): void {
    const left = (this.#wallets.get(payer) ?? 1) - 1;
    if (left === 0) this.#wallets.delete(payer);
    else this.#wallets.set(payer, left);
  }
}
