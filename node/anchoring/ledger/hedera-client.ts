import { randomInt } from 'node:crypto';
import { MAX_MESSAGE_BYTES } from '../../../protocol/log/message.ts';
import { type AnchoringConfig, VALID_SECONDS } from './config.ts';
import { bounded, networkClient } from './hedera-network.ts';
import { type Client, loadSdk, type Sdk } from './hedera-sdk.ts';
import {
  LedgerError,
  type LedgerClient,
  type PreparedTransaction,
  type ReceiptOutcome,
  type SubmitOutcome,
  type TransactionId,
  transactionId,
} from './ledger-client.ts';
import { readPoint } from './topic-point.ts';
import { type LedgerKey, readLedgerKey } from './ledger-key.ts';

export type HederaClientConfig = Pick<
  AnchoringConfig,
  'network' | 'nodes' | 'topicId' | 'operatorId' | 'operatorKey' | 'submitKey' | 'validSeconds'
>;

/**
 * Transactions start to be valid a little in the past, so that a clock ahead of the network's does no harm. In seconds.
 */
const BACKDATE_SECONDS = 4;
/** A submit costs $0.0008; this stops a mispriced one. In hbar. */
const MAX_FEE_HBAR = 0.5;

/** The node did not take the transaction now, and may have before or may later. */
const PASSING = new Set([
  'BUSY',
  'UNKNOWN',
  'PLATFORM_TRANSACTION_NOT_CREATED',
  'PLATFORM_NOT_ACTIVE',
  'INVALID_NODE_ACCOUNT',
  'INVALID_TRANSACTION_START',
  'TRANSACTION_EXPIRED',
]);
const UNKNOWN: ReceiptOutcome = { kind: 'unknown' };
const TAKEN = new Set(['OK', 'DUPLICATE_TRANSACTION']);

interface Connection {
  readonly sdk: Sdk;
  readonly client: Client;
  readonly operator: LedgerKey;
  readonly submitter: LedgerKey | null;
}

/**
 * A Hedera network through its SDK. The SDK's client is given no operator: transactions carry an explicit id and all
 * signatures when they are frozen, so it can neither renew an id nor sign again behind our back.
 */
export class HederaClient implements LedgerClient {
  readonly #config: HederaClientConfig;
  readonly #validSeconds: number;
  readonly #closing = new AbortController();
  #connection: Promise<Connection> | undefined;

  /** Throws `RangeError` where `validSeconds` is out of `VALID_SECONDS`. Opens nothing yet. */
  constructor(config: HederaClientConfig) {
    this.#config = config;
    const { least, most, otherwise } = VALID_SECONDS;
    this.#validSeconds = config.validSeconds ?? otherwise;
    if (!(this.#validSeconds >= least && this.#validSeconds <= most)) {
      throw new RangeError(`validSeconds must be ${least} to ${most}`);
    }
  }

  async prepare(message: string): Promise<PreparedTransaction> {
    if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) {
      throw new LedgerError('MESSAGE_SIZE_TOO_LARGE', `a ledger message has at most ${MAX_MESSAGE_BYTES} bytes`);
    }
    const { sdk, client, operator, submitter } = await this.#connect();
    const { operatorId, topicId } = this.#config;
    const seconds = Math.floor(Date.now() / 1000) - BACKDATE_SECONDS;
    const start = new sdk.Timestamp(seconds, randomInt(1_000_000_000));
    const transaction = new sdk.TopicMessageSubmitTransaction({ topicId, message })
      .setTransactionId(sdk.TransactionId.withValidStart(sdk.AccountId.fromString(operatorId), start))
      .setTransactionValidDuration(this.#validSeconds)
      .setMaxTransactionFee(new sdk.Hbar(MAX_FEE_HBAR))
      .setRegenerateTransactionId(false)
      .setMaxChunks(1)
      .freezeWith(client);
    for (const key of [operator, submitter]) {
      if (key !== null) await transaction.signWith(key.publicKey, (body) => key.sign(body));
    }
    return {
      transactionId: transactionId(`${operatorId}@${seconds}.${start.nanos.toString().padStart(9, '0')}`),
      bytes: Buffer.from(transaction.toBytes()).toString('base64'),
      validUntil: seconds + this.#validSeconds,
    };
  }

  async submit(prepared: PreparedTransaction, signal?: AbortSignal): Promise<SubmitOutcome> {
    const { sdk, client } = await this.#connect();
    const transaction = readTransaction(sdk, prepared.bytes);
    try {
      await bounded(transaction.execute(client), [this.#closing.signal, signal]);
      return 'accepted';
    } catch (error) {
      const status = statusOf(sdk, error);
      if (status === null || PASSING.has(status)) return 'ambiguous';
      if (TAKEN.has(status)) return 'accepted';
      throw new LedgerError(status, `the ledger refused the transaction: ${status}`, error);
    }
  }

  async receipt(id: TransactionId, signal?: AbortSignal): Promise<ReceiptOutcome> {
    try {
      const { sdk, client } = await this.#connect();
      const query = new sdk.TransactionReceiptQuery()
        .setTransactionId(sdk.TransactionId.fromString(id))
        .setValidateStatus(false);
      const receipt = await bounded(query.execute(client), [this.#closing.signal, signal]);
      const code = receipt.status.toString();
      if (code === 'SUCCESS') {
        const point = readPoint(receipt.topicSequenceNumber, receipt.topicRunningHash);
        return point === null ? UNKNOWN : { kind: 'landed', point };
      }
      return PASSING.has(code) && code !== 'TRANSACTION_EXPIRED' ? UNKNOWN : { kind: 'failed', code };
    } catch {
      return UNKNOWN;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    const connection = await this.#connection?.catch(() => undefined);
    connection?.client.close();
  }

  /** Loads the SDK and reads the keys once; a failure is not kept, so the next call tries again. */
  #connect(): Promise<Connection> {
    this.#connection ??= openConnection(this.#config).catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }
}

async function openConnection(config: HederaClientConfig): Promise<Connection> {
  const sdk = await loadSdk();
  const operator = readLedgerKey(sdk, config.operatorKey);
  const submitter = config.submitKey === undefined ? null : readLedgerKey(sdk, config.submitKey);
  const client = networkClient(sdk, config);
  const isSame = submitter?.publicKey.toStringRaw() === operator.publicKey.toStringRaw();
  return { sdk, client, operator, submitter: isSame ? null : submitter };
}

function readTransaction(sdk: Sdk, bytes: string) {
  try {
    return sdk.Transaction.fromBytes(Buffer.from(bytes, 'base64'));
  } catch (error) {
    throw new LedgerError('UNUSABLE_TRANSACTION', 'the stored transaction cannot be read', error);
  }
}

/** The ledger's status that an SDK error carries; null for every failure of transport or time. */
function statusOf(sdk: Sdk, error: unknown): string | null {
  return error instanceof sdk.StatusError ? error.status.toString() : null;
}
