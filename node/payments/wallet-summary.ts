import { addAmounts, atomicAmount } from '../../protocol/payments/usdc.ts';
import type { Settlement } from '../../protocol/payments/settlement.ts';
import type { WalletSummary } from './settlement-tables.ts';

const NOTHING = { count: 0, spent: atomicAmount('0') };

/** A wallet's summary with one more settlement in it. */
export function addSettlement(before: WalletSummary | undefined, settlement: Settlement): WalletSummary {
  const { amount, at, service } = settlement;
  if (before === undefined) {
    return {
      count: 1,
      spent: amount,
      firstSeen: at,
      lastSeen: at,
      services: { [service]: { count: 1, spent: amount } },
    };
  }
  const { count, spent } = Object.hasOwn(before.services, service) ? (before.services[service] ?? NOTHING) : NOTHING;
  return {
    count: before.count + 1,
    spent: addAmounts(before.spent, amount),
    firstSeen: before.firstSeen,
    lastSeen: at,
    services: { ...before.services, [service]: { count: count + 1, spent: addAmounts(spent, amount) } },
  };
}
