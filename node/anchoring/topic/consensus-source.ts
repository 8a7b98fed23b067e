import type { AnchoringConfig } from '../ledger/config.ts';
import { bounded, networkClient } from '../ledger/hedera-network.ts';
import { type Client, loadSdk, type Sdk } from '../ledger/hedera-sdk.ts';
import { readLedgerKey } from '../ledger/ledger-key.ts';
import { SpendGuard, type SpendLimits, type SpendState } from '../ledger/spend-guard.ts';
import { readPoint, type TopicPoint } from '../ledger/topic-point.ts';
import type { Store } from '../../store/store.ts';

export type ConsensusSourceConfig = Pick<
  AnchoringConfig,
  'network' | 'nodes' | 'topicId' | 'operatorId' | 'operatorKey'
>;

export type ConsensusErrorCode = 'unreachable' | 'refused' | 'held' | 'unreadable';

export class ConsensusError extends Error {
  override readonly name = 'ConsensusError';
  readonly code: ConsensusErrorCode;

  constructor(code: ConsensusErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** A query costs $0.0001 and its payment as much; this stops a mispriced one. In hbar. */
const MAX_QUERY_HBAR = 0.01;
/** A query that a node left unanswered may be paid for, and is asked of another. */
const QUERY_ATTEMPTS = 2;

/** A query every ten seconds, and 100 hbar a day. */
export const DEFAULT_QUERY_LIMITS: SpendLimits = {
  transactionsPerHour: 360,
  transactionsPerDay: 8_640,
  tinybarsPerDay: 10_000_000_000,
  // Two payments at the price of today's queries, and room for a lower rate of the hbar.
  feeTinybars: 1_000_000,
};
/** The row of the spend guard that counts queries, apart from what is anchored. */
export const QUERY_SPEND_ROW = 'topic-info';

interface Connection {
  readonly sdk: Sdk;
  readonly client: Client;
}

/**
 * What consensus nodes themselves say of the topic, through the SDK: a source beside the mirrors. One node answers, by
 * a connection that proves nothing: so it is one source among others and never believed alone.
 *
 * Crash order: what a query may cost is on the disk before it is asked.
 */
export class ConsensusSource implements AsyncDisposable {
  readonly #config: ConsensusSourceConfig;
  readonly #store: Store;
  readonly #guard: SpendGuard;
  readonly #closing = new AbortController();
  #connection: Promise<Connection> | undefined;
  /** One query at a time, as the guard has it. */
  #asking: Promise<unknown> = Promise.resolve();

  private constructor(config: ConsensusSourceConfig, store: Store, guard: SpendGuard) {
    this.#config = config;
    this.#store = store;
    this.#guard = guard;
  }

  /** Opens no connection yet. */
  static async open(
    config: ConsensusSourceConfig,
    store: Store,
    limits: Partial<SpendLimits> = {},
  ): Promise<ConsensusSource> {
    const guard = await SpendGuard.open(store, { ...DEFAULT_QUERY_LIMITS, ...limits }, QUERY_SPEND_ROW);
    return new ConsensusSource(config, store, guard);
  }

  /**
   * How far the topic reaches, at a time in epoch milliseconds that the spend guard counts by. Throws `ConsensusError`.
   */
  topicInfo(now: number, signal?: AbortSignal): Promise<TopicPoint> {
    const asking = this.#asking.then(() => this.#topicInfo(now, signal));
    this.#asking = asking.catch(() => undefined);
    return asking;
  }

  spent(now: number): SpendState {
    return this.#guard.state(now);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#asking;
    const connection = await this.#connection?.catch(() => undefined);
    connection?.client.close();
  }

  async #topicInfo(now: number, signal?: AbortSignal): Promise<TopicPoint> {
    const { sdk, client } = await this.#connect();
    const admission = this.#guard.admit(now);
    if (admission.kind === 'waits') {
      throw new ConsensusError(
        'held',
        `the spend guard holds queries back until ${admission.until}: ${admission.limit}`,
      );
    }
    await this.#store.write([admission.record]);
    this.#guard.commit(admission);
    const query = new sdk.TopicInfoQuery()
      .setTopicId(this.#config.topicId)
      .setMaxQueryPayment(new sdk.Hbar(MAX_QUERY_HBAR))
      .setMaxAttempts(QUERY_ATTEMPTS);
    try {
      const info = await bounded(query.execute(client), [this.#closing.signal, signal]);
      const point = readPoint(info.sequenceNumber, info.runningHash);
      if (point !== null) return point;
      throw new ConsensusError('unreadable', 'an answer of consensus nodes without a place on the topic');
    } catch (error) {
      if (error instanceof ConsensusError) throw error;
      if (error instanceof sdk.StatusError) {
        throw new ConsensusError(
          'refused',
          `consensus nodes refuse to tell the topic: ${error.status.toString()}`,
          error,
        );
      }
      throw new ConsensusError('unreachable', 'no consensus node tells the topic', error);
    }
  }

  /** Loads the SDK and reads the key once; a failure is not kept, so the next call tries again. */
  #connect(): Promise<Connection> {
    this.#connection ??= openConnection(this.#config).catch((error: unknown) => {
      this.#connection = undefined;
      throw new ConsensusError('unreachable', 'the connection to consensus nodes could not be made', error);
    });
    return this.#connection;
  }
}

async function openConnection(config: ConsensusSourceConfig): Promise<Connection> {
  const sdk = await loadSdk();
  const operator = readLedgerKey(sdk, config.operatorKey);
  const client = networkClient(sdk, config);
  // It pays for queries alone: nothing else is ever given to this client.
  client.setOperatorWith(config.operatorId, operator.publicKey, (body) => operator.sign(body));
  return { sdk, client };
}
