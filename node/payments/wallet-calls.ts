import { WALLET_ALLOWANCE } from '../accounts/limits/allowances.ts';
import { HolderCounts } from '../accounts/limits/holder-counts.ts';
import { PaymentError } from './payment-error.ts';

/** Counts the paid calls of each wallet from its signature to their answer. */
export class WalletCalls {
  readonly #wallets = new HolderCounts();
  readonly #most: number;

  constructor(most: number = WALLET_ALLOWANCE.callsUnderWay) {
    this.#most = most;
  }

  /**
   * For a wallet that has proven itself: a name alone must not fill its places. Holds until it is disposed, once. Throws
   * `PaymentError` `wallet-busy`.
   */
  enter(payer: string): Disposable {
    if (this.#wallets.of(payer) >= this.#most) throw new PaymentError('wallet-busy');
    return this.#wallets.add(payer);
  }
}
