import type { Nanos } from './consensus-time.ts';

/** What the ledger stores. Keys are serialised HAPI keys; amounts are tinybars. */

export interface AccountRow {
  num: bigint;
  /** Null: nobody can spend from it. */
  key: Uint8Array | null;
  /** Balance before its first transaction. Balance = opening + all its transfers, which is checked at boot. */
  opening: bigint;
  balance: bigint;
  created: Nanos;
}

export interface TopicRow {
  num: bigint;
  adminKey: Uint8Array | null;
  submitKey: Uint8Array | null;
  memo: string;
  created: Nanos;
  updated: Nanos;
  expires: Nanos;
  autoRenewSeconds: bigint;
  autoRenewAccount: bigint | null;
  deleted: boolean;
  sequence: bigint;
  runningHash: Uint8Array;
}

export interface ChunkRow {
  initialPayer: bigint;
  initialValidStart: Nanos;
  number: number;
  total: number;
}

export interface MessageRow {
  topic: bigint;
  sequence: bigint;
  at: Nanos;
  payer: bigint;
  message: Uint8Array;
  runningHash: Uint8Array;
  chunk: ChunkRow | null;
}

export interface Transfer {
  account: bigint;
  amount: bigint;
}

export interface TransactionRow {
  at: Nanos;
  id: string;
  status: number;
  fee: bigint;
  transfers: Transfer[];
  /** The topic that it created, changed or wrote to; null for a transfer and for one that named none. */
  entity: bigint | null;
  created: bigint | null;
  message: { sequence: bigint; runningHash: Uint8Array } | null;
  /** The serialised SignedTransaction. */
  signed: Uint8Array;
}

export interface BlockRow {
  number: number;
  from: Nanos;
  to: Nanos;
  count: number;
  /** SHA-384 over the previous block's hash and the SHA-384 of each transaction row, in order. */
  hash: Uint8Array;
  previous: Uint8Array;
}

/** Where the ledger stands after its last round. */
export interface HeadRow {
  format: string;
  lastConsensus: Nanos;
  nextEntity: bigint;
  transactions: number;
  blocks: number;
  blockHash: Uint8Array;
  /** Over all accounts and topics, see entities-hash.ts. */
  entitiesHash: Uint8Array;
}
