import { countKeys } from './signatures.ts';
import type { Operation, OperationKind, SignedTransaction } from './transaction.ts';

/** Prices in tinycents (1 US dollar = 10^10 tinycents), in the form of HIP-1261 "simple fees". */
export interface FeeSchedule {
  readonly node: bigint;
  readonly extraSignature: bigint;
  readonly extraTransactionByte: bigint;
  readonly extraMessageByte: bigint;
  readonly topicKey: bigint;
  /** The network is paid this many times the node's part. */
  readonly networkMultiplier: bigint;
  readonly service: Record<OperationKind, bigint>;
  readonly query: bigint;
  /** One unit of gas. */
  readonly gas: bigint;
  /** `hbars` are worth `cents`. */
  readonly rate: { readonly hbars: number; readonly cents: number };
}

/** A fee in tinybars: what the node gets, and the whole, of which the rest goes to the fee account. */
export interface Fee {
  readonly node: bigint;
  readonly total: bigint;
}

/** Mainnet's prices (hiero-consensus-node, simpleFeesSchedules.json), at a made-up 20 cents an hbar. */
export const DEFAULT_FEES: FeeSchedule = {
  node: 100_000n,
  extraSignature: 100_000n,
  extraTransactionByte: 10_000n,
  extraMessageByte: 1_000_000n,
  topicKey: 100_000_000n,
  networkMultiplier: 9n,
  service: {
    createTopic: 99_000_000n,
    updateTopic: 1_200_000n,
    deleteTopic: 49_000_000n,
    submitMessage: 7_000_000n,
    transfer: 0n,
  },
  query: 1_000_000n,
  gas: 852n,
  rate: { hbars: 30_000, cents: 600_000 },
};

const INCLUDED_BYTES = 1024;
const INCLUDED_SIGNATURES = 1;

/** Fee of a transaction; it depends on the transaction alone. */
export function feeOf(schedule: FeeSchedule, { operation, bytes, signatures }: SignedTransaction): Fee {
  const node =
    schedule.node +
    over(bytes.length, INCLUDED_BYTES) * schedule.extraTransactionByte +
    over(signatures.count, INCLUDED_SIGNATURES) * schedule.extraSignature;
  const service = schedule.service[operation.kind] + extrasOf(schedule, operation);
  return {
    node: toTinybars(schedule, node),
    total: toTinybars(schedule, node * (1n + schedule.networkMultiplier) + service),
  };
}

export function toTinybars({ rate }: FeeSchedule, tinycents: bigint): bigint {
  return (tinycents * BigInt(rate.hbars)) / BigInt(rate.cents);
}

function extrasOf(schedule: FeeSchedule, { kind, body }: Operation): bigint {
  if (kind === 'submitMessage') return over(body.message?.length ?? 0, INCLUDED_BYTES) * schedule.extraMessageByte;
  if (kind === 'createTopic') return BigInt(countKeys(body.adminKey) + countKeys(body.submitKey)) * schedule.topicKey;
  return 0n;
}

function over(count: number, included: number): bigint {
  return BigInt(Math.max(0, count - included));
}
