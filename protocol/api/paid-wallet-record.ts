import Type from 'typebox';
import { AtomicAmountShape } from '../payments/settlement.ts';
import { USDC } from '../payments/usdc.ts';
import { Closed, CountShape, OrNull, Sha256Shape, TimestampShape } from '../shapes.ts';
import { EXAMPLE_HASH, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';
import { EXAMPLE_SALT, SaltShape } from './paid-tiered-attest.ts';

/** What the answer is about, in one sentence of every such answer. */
export const WALLET_RECORD_SCOPE = "This service's own settlement ledger only";

/** An address as callers write it: any case, its checksum (EIP-55) not enforced. */
export const AddressParameterShape = Type.String({ pattern: '^0x[a-fA-F0-9]{40}$' });

/** What `GET /v1/x402/wallet-record/:address` answers. Amounts are in the smallest unit of the asset. */
export const WalletRecordAnswerShape = PaidShape({
  /** In lower case. */
  address: Type.String({ pattern: '^0x[0-9a-f]{40}$' }),
  settlementCount: CountShape,
  firstSeen: OrNull(TimestampShape),
  lastSeen: OrNull(TimestampShape),
  totalSpent: Closed({
    amount: AtomicAmountShape,
    asset: Type.Literal(USDC.asset),
    decimals: Type.Literal(USDC.decimals),
  }),
  /** In order of their names. */
  servicesUsed: Type.Array(Closed({ service: Type.String(), count: CountShape, spent: AtomicAmountShape })),
  /** The ledger that was read: its lines, and the hash of the last one. */
  ledger: Closed({ entryCount: CountShape, headHash: Sha256Shape, asOf: TimestampShape }),
  scope: Type.Literal(WALLET_RECORD_SCOPE),
  salt: SaltShape,
});

export const WALLET_RECORD_EXAMPLE = {
  address: '0x2222222222222222222222222222222222222222',
  answer: {
    success: true,
    address: '0x2222222222222222222222222222222222222222',
    settlementCount: 3,
    firstSeen: '2026-11-02T14:05:11.020Z',
    lastSeen: '2026-11-20T08:41:37.611Z',
    totalSpent: { amount: '20000', asset: USDC.asset, decimals: USDC.decimals },
    servicesUsed: [
      { service: 'attested-screening', count: 1, spent: '10000' },
      { service: 'tiered-attest', count: 2, spent: '10000' },
    ],
    ledger: { entryCount: 1289, headHash: EXAMPLE_HASH, asOf: EXAMPLE_SUBMITTED_AT },
    scope: WALLET_RECORD_SCOPE,
    salt: EXAMPLE_SALT,
    ...paidTailExample('0.005'),
  },
};
