import { once } from 'node:events';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { com } from '@hiero-ledger/proto';
import type { proto } from '@hiero-ledger/proto';
import { AutoResetEvent } from '../../node/concurrency/auto-reset-event.ts';
import { RUNNING_HASH_VERSION } from '../../protocol/ledger/running-hash.ts';
import type { Nanos } from './consensus-time.ts';
import type { MirrorView } from './mirror-view.ts';
import type { ChunkRow, MessageRow } from './rows.ts';
import { accountId, timestamp, toLong } from './wire.ts';

export interface SubscriptionTerms {
  readonly topic: bigint;
  /** First consensus time to deliver. */
  readonly from: Nanos;
  /** First consensus time not to deliver; null for no end. */
  readonly until: Nanos | null;
  /** Messages to deliver at most; null for no limit. */
  readonly limit: bigint | null;
}

/** Longest sleep of a subscription; the ledger's clock wakes it sooner. */
const WAKE_MS = 1_000;

const { ConsensusTopicResponse } = com.hedera.mirror.api.proto;

/** One subscribeTopic call: delivers in order, reads from the disk as fast as the client takes, ends with the call. */
export class TopicSubscription {
  readonly #view: MirrorView;
  readonly #call: ServerWritableStream<Buffer, Buffer>;
  readonly #terms: SubscriptionTerms;
  readonly #wake = new AutoResetEvent();
  readonly #ended = new AbortController();
  #next: Nanos;
  #left: bigint | null;

  constructor(view: MirrorView, call: ServerWritableStream<Buffer, Buffer>, terms: SubscriptionTerms) {
    this.#view = view;
    this.#call = call;
    this.#terms = terms;
    this.#next = terms.from;
    this.#left = terms.limit;
  }

  /** Returns when everything asked for is delivered or the client has gone. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    const stopListening = this.#view.ledger.onClock(() => this.#wake.notify());
    const end = (): void => this.#ended.abort();
    this.#call.once('cancelled', end).once('close', end);
    try {
      while (!signal.aborted && !(await this.#deliver())) await this.#wake.wait(WAKE_MS, signal);
      this.#call.end();
    } finally {
      stopListening();
    }
  }

  /** Writes all that is there; true when nothing more is to come. */
  async #deliver(): Promise<boolean> {
    const { topic, until } = this.#terms;
    // Taken before reading: what arrives meanwhile is still below the next horizon.
    const { horizon } = this.#view;
    for await (const message of this.#view.messages(topic, {}, { from: this.#next, to: horizon }, 'asc')) {
      if (until !== null && message.at >= until) return true;
      this.#next = message.at + 1n;
      const hasCapacity = this.#call.write(encode(message));
      if (this.#left !== null && --this.#left === 0n) return true;
      if (!hasCapacity) await once(this.#call, 'drain', { signal: this.#ended.signal }).catch(() => {});
      if (this.#ended.signal.aborted) return true;
    }
    return until !== null && horizon >= until;
  }
}

function encode({ at, message, runningHash, sequence, chunk }: MessageRow): Buffer {
  const response = ConsensusTopicResponse.encode({
    consensusTimestamp: timestamp(at),
    message,
    runningHash,
    sequenceNumber: toLong(sequence),
    runningHashVersion: toLong(BigInt(RUNNING_HASH_VERSION)),
    chunkInfo: chunk && chunkInfo(chunk),
  });
  return Buffer.from(response.finish());
}

function chunkInfo({ initialPayer, initialValidStart, number, total }: ChunkRow): proto.IConsensusMessageChunkInfo {
  const initialTransactionID = {
    accountID: accountId(initialPayer),
    transactionValidStart: timestamp(initialValidStart),
  };
  return { initialTransactionID, number, total };
}
