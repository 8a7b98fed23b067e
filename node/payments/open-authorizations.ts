import type { WalletAddress } from '../../protocol/payments/payment.ts';
import type { AtomicAmount } from '../../protocol/payments/usdc.ts';
import { WALLET_ALLOWANCE } from '../accounts/limits/allowances.ts';
import { Held } from '../concurrency/held.ts';
import { PaymentError } from './payment-error.ts';

/** An authorization that a wallet has shown, and what it would pay for. */
export interface ShownAuthorization {
  readonly payer: WalletAddress;
  /** The payment's key, as one text. */
  readonly name: string;
  readonly amount: AtomicAmount;
  readonly isBatch: boolean;
  /** Whether the wallet never paid here. */
  readonly isNewcomer: boolean;
}

/** What the disk says of an authorization. */
export type Standing = 'open' | 'spent' | 'over';

interface Entry {
  amount: bigint;
  /** Order in which the authorizations were shown. */
  readonly ordinal: number;
  readonly isNewcomer: boolean;
  readonly isNewBatch: boolean;
  /** Bytes of the body that records are prepared of. */
  bytes: number;
  /** Calls under way that show it. */
  calls: number;
  /** Whether it is open on the disk. */
  isKept: boolean;
}

interface Wallet {
  readonly entries: Map<string, Entry>;
  /** Sum of what was spent since the wallet is in memory. */
  spent: bigint;
  /** Looks at the balance under way. */
  looks: number;
}

/**
 * The open authorizations of each wallet at this node: those of calls under way, and those whose settlement was begun
 * and is neither known nor over. Together they never exceed what the wallet has, so that no money is good for two
 * pieces of work; of a wallet that never paid only one batch is open; and what is prepared for a wallet has so many
 * bytes at most.
 */
export class OpenAuthorizations {
  readonly #wallets = new Map<WalletAddress, Wallet>();
  readonly #maxNewBatches: number;
  #ordinals = 0;
  #newBatches = 0;

  constructor(maxNewBatches: number = WALLET_ALLOWANCE.allNewcomersBatches) {
    this.#maxNewBatches = maxNewBatches;
  }

  /**
   * Enters a call that shows an authorization until it is disposed. Throws `PaymentError` `wallet-busy`, `node-busy`.
   */
  enter(shown: ShownAuthorization): Disposable {
    return this.#held(shown.payer, shown.name, this.#entryOf(shown));
  }

  /** Holds an authorization that is entered until it is disposed; null where it is not. */
  hold(payer: WalletAddress, name: string): Disposable | null {
    const entry = this.#wallets.get(payer)?.entries.get(name);
    return entry === undefined ? null : this.#held(payer, name, entry);
  }

  /** Enters an authorization that a run before this one left open. */
  restore(shown: ShownAuthorization, bytes = 0): void {
    const entry = this.#entryOf(shown, true);
    entry.isKept = true;
    entry.bytes = bytes;
  }

  /**
   * Enters the bytes of what is to be prepared for an authorization that was entered. Callers of the same call have one
   * body. Throws `PaymentError` `wallet-busy`.
   */
  prepare(payer: WalletAddress, name: string, bytes: number): void {
    const wallet = this.#wallets.get(payer);
    const own = wallet?.entries.get(name);
    // Spent meanwhile, by a duplicate: nothing is prepared for it any more.
    if (wallet === undefined || own === undefined) return;
    let prepared = Math.max(own.bytes, bytes);
    for (const entry of wallet.entries.values()) if (entry !== own) prepared += entry.bytes;
    const most = own.isNewcomer ? WALLET_ALLOWANCE.newcomerPreparedBytes : WALLET_ALLOWANCE.preparedBytes;
    if (prepared > most) throw new PaymentError('wallet-busy');
    own.bytes = Math.max(own.bytes, bytes);
  }

  /** Says of an authorization what the disk says. Of one that is not entered nothing is noted. */
  note(payer: WalletAddress, name: string, state: Standing): void {
    const wallet = this.#wallets.get(payer);
    const entry = wallet?.entries.get(name);
    if (wallet === undefined || entry === undefined) return;
    entry.isKept = state === 'open';
    if (state === 'spent') {
      wallet.spent += entry.amount;
      entry.amount = 0n;
    }
    this.#forgetIdle(payer, name, entry);
  }

  /**
   * Whether the wallet's balance covers the authorization together with those that were shown before it. Null where the
   * balance cannot be read. A balance that is read while another is being spent counts that one too.
   */
  async isCovered(
    payer: WalletAddress,
    name: string,
    balance: () => Promise<AtomicAmount | null>,
  ): Promise<boolean | null> {
    const wallet = this.#wallets.get(payer);
    const own = wallet?.entries.get(name);
    if (wallet === undefined || own === undefined) throw new RangeError('the authorization was not entered');
    const spentBefore = wallet.spent;
    wallet.looks++;
    try {
      const has = await balance();
      if (has === null) return null;
      let sum = wallet.spent - spentBefore;
      for (const { ordinal, amount } of wallet.entries.values()) if (ordinal <= own.ordinal) sum += amount;
      return sum <= BigInt(has);
    } finally {
      wallet.looks--;
      this.#forgetIdle(payer, name, own);
    }
  }

  /** Open authorizations of a wallet. */
  countOf(payer: WalletAddress): number {
    return this.#wallets.get(payer)?.entries.size ?? 0;
  }

  #entryOf({ payer, name, amount, isBatch, isNewcomer }: ShownAuthorization, isKept = false): Entry {
    const wallet = this.#wallets.get(payer) ?? { entries: new Map<string, Entry>(), spent: 0n, looks: 0 };
    const found = wallet.entries.get(name);
    if (found !== undefined) return found;
    const isNewBatch = isBatch && isNewcomer;
    if (isNewBatch && !isKept) {
      if (newBatchesOf(wallet) >= WALLET_ALLOWANCE.newcomerBatches) throw new PaymentError('wallet-busy');
      if (this.#newBatches >= this.#maxNewBatches) throw new PaymentError('node-busy');
    }
    const ordinal = this.#ordinals++;
    const entry: Entry = { amount: BigInt(amount), ordinal, isNewcomer, isNewBatch, bytes: 0, calls: 0, isKept };
    if (isNewBatch) this.#newBatches++;
    wallet.entries.set(name, entry);
    this.#wallets.set(payer, wallet);
    return entry;
  }

  #held(payer: WalletAddress, name: string, entry: Entry): Disposable {
    entry.calls++;
    return new Held(() => {
      entry.calls--;
      this.#forgetIdle(payer, name, entry);
    });
  }

  #forgetIdle(payer: WalletAddress, name: string, entry: Entry): void {
    const wallet = this.#wallets.get(payer);
    if (wallet === undefined) return;
    const isIdle = entry.calls === 0 && !entry.isKept && wallet.entries.get(name) === entry;
    if (isIdle && wallet.entries.delete(name) && entry.isNewBatch) this.#newBatches--;
    if (wallet.entries.size === 0 && wallet.looks === 0) this.#wallets.delete(payer);
  }
}

function newBatchesOf({ entries }: Wallet): number {
  let count = 0;
  for (const { isNewBatch } of entries.values()) if (isNewBatch) count++;
  return count;
}
