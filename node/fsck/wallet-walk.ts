import { equalBytes } from '../../protocol/bytes.ts';
import { isWalletAddress, type WalletAddress } from '../../protocol/payments/payment.ts';
import type { Settlement } from '../../protocol/payments/settlement.ts';
import { type WalletSummary, walletTable } from '../payments/settlement-tables.ts';
import { addSettlement } from '../payments/wallet-summary.ts';
import type { Check } from './check.ts';
import { readRows } from './rows.ts';

/** Wallets that are summed up in memory. Of a ledger with more, the summaries are not looked at. */
const MAX_WALLETS = 200_000;

/** The summaries of wallets, recounted along the settlement ledger. */
export class WalletWalk {
  readonly #check: Check;
  readonly #maxWallets: number;
  readonly #sums = new Map<WalletAddress, WalletSummary>();

  constructor(check: Check, maxWallets = MAX_WALLETS) {
    this.#check = check;
    this.#maxWallets = maxWallets;
  }

  take(settlement: Settlement): void {
    const { payer } = settlement;
    if (this.#sums.size <= this.#maxWallets) this.#sums.set(payer, addSettlement(this.#sums.get(payer), settlement));
  }

  /** After the last line. */
  async finish(): Promise<void> {
    const { store, report } = this.#check;
    if (this.#sums.size > this.#maxWallets) {
      report.notChecked.push('summaries of wallets: there are more than memory holds');
      return;
    }
    for (const [payer, summary] of this.#sums) {
      report.count('wallets');
      const row = walletTable.put([payer], summary);
      const stored = await store.get(row.key);
      if (stored === undefined) report.problem(walletTable.name, row.key, 'is missing');
      else if (row.type === 'put' && !equalBytes(stored, row.value)) {
        report.problem(walletTable.name, row.key, 'does not sum up the settlements of its wallet');
      }
    }
    for await (const { key, parts } of readRows(this.#check, walletTable)) {
      const [payer = ''] = parts;
      if (parts.length === 1 && isWalletAddress(payer) && this.#sums.has(payer)) continue;
      report.problem(walletTable.name, key, 'belongs to no settlement');
    }
  }
}
