import type { WalletAddress } from '../../../protocol/payments/payment.ts';
import { ChainError } from '../../payments/facilitator/contract.ts';
import type { ChainAccount, ChainBlock, ChainReader } from '../../payments/facilitator/contract.ts';

/** What the chain tells of an address, and what it could not be asked. */
export interface ChainProfile {
  /** Null where the chain could not be read. */
  readonly account: ChainAccount | null;
  /** Block of its first own transaction; null where it has none, or it could not be read. */
  readonly first: ChainBlock | null;
  /** What could not be read, in words. Empty: the profile is whole. */
  readonly gaps: readonly string[];
}

export interface ProfileLimits {
  /** How long the state of the account may take, in milliseconds. */
  readonly accountMs: number;
  /** How long the search for its first transaction may take: some 26 questions on Base. In milliseconds. */
  readonly historyMs: number;
}

const PROFILE_LIMITS: ProfileLimits = { accountMs: 8_000, historyMs: 10_000 };

/** Asks the chain about an address. What the chain does not answer, or not in time, is a gap; never throws for it. */
export async function readProfile(
  chain: Pick<ChainReader, 'account' | 'firstTransaction'> | null,
  address: WalletAddress,
  limits: ProfileLimits = PROFILE_LIMITS,
): Promise<ChainProfile> {
  if (chain === null) return { account: null, first: null, gaps: ['the node has no chain to read'] };
  const account = await inTime(limits.accountMs, () => chain.account(address));
  if (account === null) return { account, first: null, gaps: ['the state of the account could not be read'] };
  if (account.transactionCount === 0) return { account, first: null, gaps: [] };
  const first = await inTime(limits.historyMs, (signal) => chain.firstTransaction(address, account.block, signal));
  return { account, first, gaps: first === null ? ['the age of the account could not be read'] : [] };
}

/** Null where the chain does not answer in time, or at all. */
async function inTime<Read>(milliseconds: number, read: (signal: AbortSignal) => Promise<Read>): Promise<Read | null> {
  const over = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), milliseconds);
  try {
    return await Promise.race([read(over.signal), late]);
  } catch (error) {
    if (error instanceof ChainError) return null;
    throw error;
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
