import {
  type ListedAddress,
  nativeAmount,
  type OnChain,
  type Reason,
  REASON_SEVERITIES,
  type ReasonCode,
  stablecoinAmount,
} from '../../../protocol/api/check-counterparty.ts';
import type { WalletAddress } from '../../../protocol/payments/payment.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { UsableList } from '../list-searches.ts';
import type { ListId } from '../lists/list-id.ts';
import type { ChainProfile } from './chain-profile.ts';

type CounterpartyVerdict = 'match' | 'review' | 'clear';

/** What is known of an address. */
export interface CounterpartyFacts {
  readonly listed: readonly ListedAddress[];
  /** Addresses that it was compared with, and the lists that they are on. */
  readonly compared: number;
  readonly lists: number;
  readonly staleLists: readonly ListId[];
  readonly profile: ChainProfile;
}

/** Younger addresses are new. In seconds. */
const NEW_SECONDS = 7 * 86_400;
const LISTS = 'lists';

/** Everything that speaks for or against an address, the gravest first (api-rules §4.1). */
export function reasonsOf(facts: CounterpartyFacts): readonly Reason[] {
  return [...listReasons(facts), ...chainReasons(facts.profile)];
}

/** `match`: it is on a list. `review`: it is not, and something calls for a closer look. `clear`: neither. */
export function verdictOf(reasons: readonly Reason[]): CounterpartyVerdict {
  if (reasons.some(({ severity }) => severity === 'block')) return 'match';
  return reasons.some(({ severity }) => severity === 'caution') ? 'review' : 'clear';
}

function listReasons({ listed, compared, lists, staleLists }: CounterpartyFacts): Reason[] {
  const none = `It is none of the ${compared} addresses on ${lists} lists.`;
  return [
    ...listed.map(({ listId, entryId, name }) =>
      reason('LISTED_ADDRESS', `The list has it under entry ${entryId}, ${name}.`, listId),
    ),
    ...(listed.length === 0 ? [reason('NO_LISTED_ADDRESS', none, LISTS)] : []),
    ...staleLists.map((listId) =>
      reason('LIST_STALE', 'The list was last compared with its source more than 48 hours ago.', listId),
    ),
  ];
}

function chainReasons({ account, first, gaps }: ChainProfile): Reason[] {
  const reasons = gaps.map((gap) => ofChain('CHAIN_DATA_PARTIAL', `Not all is known of it: ${gap}.`));
  if (account === null) return reasons;
  if (account.isContract) {
    reasons.push(ofChain('CONTRACT_ACCOUNT', 'It has code: what it does with money is not up to one key alone.'));
  }
  if (account.transactionCount === 0) {
    reasons.push(ofChain('NO_ACTIVITY', 'It has sent no transaction of its own; its age cannot be told.'));
  }
  if (first !== null && account.block.timestamp - first.timestamp < NEW_SECONDS) {
    reasons.push(ofChain('NEW_ADDRESS', 'Its first transaction of its own is less than seven days old.'));
  }
  return reasons;
}

function ofChain(code: ReasonCode, detail: string): Reason {
  return reason(code, detail, USDC.network);
}

function reason(code: ReasonCode, detail: string, source: string): Reason {
  return { code, severity: REASON_SEVERITIES[code], detail, source };
}

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
