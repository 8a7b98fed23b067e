import { PaymentError } from './payment-error.ts';

/** Paid calls that one wallet may have under way, and the node (DESIGN §8). */
const MAX_CALLS_OF_WALLET = 200;
const MAX_CALLS_OF_NODE = 5_000;

/** Counts paid calls from their first byte to their answer. What is entered must be left, once. */
export class CallsUnderWay {
  readonly #wallets = new Map<string, number>();
  readonly #maxOfWallet: number;
  readonly #maxOfNode: number;
  #count = 0;

  constructor(maxOfWallet = MAX_CALLS_OF_WALLET, maxOfNode = MAX_CALLS_OF_NODE) {
    this.#maxOfWallet = maxOfWallet;
    this.#maxOfNode = maxOfNode;
  }

  get count(): number {
    return this.#count;
  }

  /** Throws `PaymentError` `node-busy`. */
  enter(): Disposable {
    if (this.#count >= this.#maxOfNode) throw new PaymentError('node-busy');
    this.#count++;
    return { [Symbol.dispose]: () => void this.#count-- };
  }

  /** For a wallet that has proven itself: a name alone must not fill its places. Throws `PaymentError` `wallet-busy`. */
  enterWallet(payer: string): Disposable {
    const count = this.#wallets.get(payer) ?? 0;
    if (count >= this.#maxOfWallet) throw new PaymentError('wallet-busy');
    this.#wallets.set(payer, count + 1);
    return { [Symbol.dispose]: () => this.#leaveWallet(payer) };
  }

  #leaveWallet(payer: string): void {
    const left = (this.#wallets.get(payer) ?? 1) - 1;
    if (left === 0) this.#wallets.delete(payer);
    else this.#wallets.set(payer, left);
  }
}
