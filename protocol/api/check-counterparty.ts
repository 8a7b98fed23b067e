import Type, { type Static } from 'typebox';
import { ATOMIC_AMOUNT_PATTERN, USDC } from '../payments/usdc.ts';
import { SCREENING_DISCLAIMER } from '../screening/disclaimer.ts';
import { Closed, CountShape, OrNull, Sha256Shape, TimestampShape } from '../shapes.ts';
import { EXAMPLE_HASH, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';
import { EXAMPLE_SALT, SaltShape } from './paid-tiered-attest.ts';

/** `block` alone makes a match, `caution` a review. */
export const REASON_SEVERITIES = {
  LISTED_ADDRESS: 'block',
  NO_LISTED_ADDRESS: 'info',
  NEW_ADDRESS: 'caution',
  NO_ACTIVITY: 'caution',
  CONTRACT_ACCOUNT: 'caution',
  LIST_STALE: 'caution',
  CHAIN_DATA_PARTIAL: 'caution',
} as const;
export type ReasonCode = keyof typeof REASON_SEVERITIES;

const NATIVE = { asset: 'ETH', decimals: 18 } as const;
const AmountText = Type.String({ pattern: ATOMIC_AMOUNT_PATTERN });

const ReasonShape = Closed({
  code: Type.Enum([
    'LISTED_ADDRESS',
    'NO_LISTED_ADDRESS',
    'NEW_ADDRESS',
    'NO_ACTIVITY',
    'CONTRACT_ACCOUNT',
    'LIST_STALE',
    'CHAIN_DATA_PARTIAL',
  ]),
  severity: Type.Enum(['block', 'caution', 'info']),
  detail: Type.String(),
  source: Type.String({ description: 'A list, `lists` for all of them together, or the chain.' }),
});
export type Reason = Static<typeof ReasonShape>;

const OnChainShape = Closed({
  network: Type.Literal(USDC.network),
  blockNumber: OrNull(CountShape),
  blockHash: OrNull(Type.String({ pattern: '^0x[0-9a-f]{64}$' })),
  observedAt: OrNull(TimestampShape),
  transactionCount: OrNull(CountShape),
  nativeBalance: OrNull(
    Closed({ amount: AmountText, asset: Type.Literal(NATIVE.asset), decimals: Type.Literal(NATIVE.decimals) }),
  ),
  stablecoinBalance: OrNull(
    Closed({ amount: AmountText, asset: Type.Literal(USDC.asset), decimals: Type.Literal(USDC.decimals) }),
  ),
  isContract: OrNull(Type.Boolean()),
  firstSeen: OrNull(TimestampShape),
});
export type OnChain = Static<typeof OnChainShape>;

const ComparedListShape = Closed({
  listId: Type.String(),
  fileHash: Sha256Shape,
  fileDate: OrNull(Type.String()),
  retrievedAt: TimestampShape,
  stale: Type.Boolean(),
  sample: Type.Boolean({ description: 'Made-up entries, to try things out with; never a real list.' }),
  addressesCompared: CountShape,
});

const ListedAddressShape = Closed({
  listId: Type.String(),
  entryId: Type.String(),
  name: Type.String({ description: 'Title of the entry.' }),
  programs: Type.Array(Type.String()),
});
export type ListedAddress = Static<typeof ListedAddressShape>;

/** What `GET /v1/x402/check-counterparty/:address` answers (api-rules §4.1). Amounts are in the smallest unit. */
export const CounterpartyAnswerShape = PaidShape({
  address: Type.String({ pattern: '^0x[0-9a-f]{40}$' }),
  queryHash: Sha256Shape,
  salt: SaltShape,
  checkedAt: TimestampShape,
  verdict: Type.Enum(['match', 'review', 'clear']),
  reasons: Type.Array(ReasonShape),
  matches: Type.Array(ListedAddressShape),
  onChain: OnChainShape,
  lists: Type.Array(ComparedListShape),
  sample: Type.Boolean({ description: 'Whether any of the lists is a sample.' }),
  disclaimer: Type.Literal(SCREENING_DISCLAIMER),
});

/** The amounts of an account, as an answer gives them. */
export function nativeAmount(wei: bigint) {
  return { amount: String(wei), ...NATIVE };
}

export function stablecoinAmount(atoms: bigint) {
  return { amount: String(atoms), asset: USDC.asset, decimals: USDC.decimals };
}

export const COUNTERPARTY_EXAMPLE = {
  address: '0x2222222222222222222222222222222222222222',
  answer: {
    success: true,
    address: '0x2222222222222222222222222222222222222222',
    queryHash: EXAMPLE_HASH,
    salt: EXAMPLE_SALT,
    checkedAt: EXAMPLE_SUBMITTED_AT,
    verdict: 'clear',
    reasons: [
      {
        code: 'NO_LISTED_ADDRESS',
        severity: 'info',
        detail: 'It is none of the 116 addresses on 6 lists.',
        source: 'lists',
      },
    ],
    matches: [],
    onChain: {
      network: USDC.network,
      blockNumber: 38_406_112,
      blockHash: `0x${'4'.repeat(64)}`,
      observedAt: EXAMPLE_SUBMITTED_AT,
      transactionCount: 412,
      nativeBalance: nativeAmount(31_000_000_000_000_000n),
      stablecoinBalance: stablecoinAmount(1_204_500_000n),
      isContract: false,
      firstSeen: '2024-03-14T11:20:09.000Z',
    },
    lists: [
      {
        listId: 'us-ofac-sdn',
        fileHash: EXAMPLE_HASH,
        fileDate: '2026-11-20',
        retrievedAt: '2026-11-21T06:00:00.000Z',
        stale: false,
        sample: false,
        addressesCompared: 116,
      },
    ],
    sample: false,
    disclaimer: SCREENING_DISCLAIMER,
    ...paidTailExample('0.01'),
  },
};
