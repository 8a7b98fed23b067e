import {
  type ListedAddress,
  nativeAmount,
  type OnChain,
  stablecoinAmount,
} from '../../../protocol/api/check-counterparty.ts';
import type { WalletAddress } from '../../../protocol/payments/payment.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { UsableList } from '../list-searches.ts';
import type { ChainProfile } from './chain-profile.ts';
import { reasonsOf, verdictOf } from './verdict.ts';

const MILLISECONDS = 1_000;

/** What an address comes to: held against lists, and as the chain shows it. */
export function checkCounterparty(
  address: WalletAddress,
  lists: readonly UsableList[],
  profile: ChainProfile,
  observedAt: Timestamp,
) {
  const matches = lists.flatMap((list) => listedOn(list, address));
  const compared = lists.map(comparedList);
  const reasons = reasonsOf({
    listed: matches,
    compared: compared.reduce((sum, { addressesCompared }) => sum + addressesCompared, 0),
    lists: lists.length,
    staleLists: lists.filter(({ isStale }) => isStale).map(({ search }) => search.edition.listId),
    profile,
  });
  return {
    verdict: verdictOf(reasons),
    reasons,
    matches,
    onChain: onChain(profile, observedAt),
    lists: compared,
    sample: compared.some(({ sample }) => sample),
  };
}

function listedOn({ search }: UsableList, address: WalletAddress): ListedAddress[] {
  const { listId } = search.edition;
  return search.byAddress(address).map(({ entryId, name, programs }) => ({
    listId,
    entryId,
    name,
    programs: [...programs],
  }));
}

function comparedList({ search, isStale }: UsableList) {
  const { listId, fileHash, fileDate, retrievedAt, sample } = search.edition;
  return { listId, fileHash, fileDate, retrievedAt, stale: isStale, sample, addressesCompared: search.addressCount };
}

/** What could not be read is null. */
function onChain({ account, first }: ChainProfile, observedAt: Timestamp): OnChain {
  return {
    network: USDC.network,
    blockNumber: account && Number(account.block.number),
    blockHash: account && account.block.hash,
    observedAt: account && observedAt,
    transactionCount: account && account.transactionCount,
    nativeBalance: account && nativeAmount(account.nativeBalance),
    stablecoinBalance: account && stablecoinAmount(account.usdcBalance),
    isContract: account && account.isContract,
    firstSeen: first && timestampOf(first.timestamp * MILLISECONDS),
  };
}
