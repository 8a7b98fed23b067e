import type { Hex } from 'viem';

/** One round of calls, each paid for by a payment of its own, asked of the process that makes them. */
export interface PayerQuestion {
  readonly port: number;
  readonly path: string;
  readonly payTo: string;
  /** Private keys that pay in turn. */
  readonly wallets: readonly Hex[];
  readonly calls: number;
  /** Calls under way at a time. */
  readonly together: number;
}

/** What came of it. Times in milliseconds, from the request to the end of its answer. */
export interface PayerAnswer {
  readonly answers: number;
  /** Status → how often, of all that was not 200. */
  readonly failed: Readonly<Record<string, number>>;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Calls that were under way at the same time, at most. */
  readonly most: number;
}

export function isPayerAnswer(value: unknown): value is PayerAnswer {
  return typeof value === 'object' && value !== null && 'perSecond' in value && 'most' in value;
}
