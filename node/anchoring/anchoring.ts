import type { Logger } from 'pino';
import type { BundleAnchor } from '../../protocol/bundle/bundle.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { batchAnchor, writeAnchorMessage } from '../../protocol/ledger/anchor-message.ts';
import { timestampOf } from '../../protocol/time.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { StoredBatch } from '../sealing/batch-tables.ts';
import type { Operation, Store } from '../store/store.ts';
import type { AnchoringState, BatchStatus } from './anchoring-state.ts';
import { anchorOfBatch, type AnchorRow } from './anchors.ts';
import { Anchorer } from './anchorer.ts';
import type { AnchoringConfig } from './config.ts';
import { HederaClient } from './hedera-client.ts';
import type { LedgerClient } from './ledger-client.ts';
import { MirrorClient } from './mirror-client.ts';
import { outboxEntry } from './outbox.ts';
import { SpendGuard } from './spend-guard.ts';
import { TopicReader } from './topic-reader.ts';

export interface AnchoringOptions {
  readonly config: AnchoringConfig;
  /** This node, whose batches are anchored. */
  readonly node: NodeId;
  /** Eight hex digits of the federation's digest. */
  readonly federation: string;
  readonly store: Store;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Logger;
  /** Instead of the SDK's client. */
  readonly ledger?: LedgerClient;
  /** A ledger node has the batch's transaction. None of these may throw. */
  readonly onSubmitted?: (batch: number) => void;
  /** The batch's message was read back from the topic and linked. */
  readonly onConfirmed?: (batch: number, anchor: AnchorRow) => void;
  /** Anchors of any member's batches, new on this node's reading of the topic. */
  readonly onAnchor?: (anchors: readonly AnchorRow[]) => void;
  /** Anchors for batches that another message had anchored before. */
  readonly onRival?: (rivals: readonly AnchorRow[]) => void;
}

/** A node's whole dealing with the ledger: it writes its own batches there and reads everybody's. */
export class Anchoring implements AsyncDisposable {
  readonly #options: AnchoringOptions;
  readonly #ledger: LedgerClient;
  readonly #reader: TopicReader;
  readonly #anchorer: Anchorer;

  private constructor(options: AnchoringOptions, ledger: LedgerClient, reader: TopicReader, anchorer: Anchorer) {
    this.#options = options;
    this.#ledger = ledger;
    this.#reader = reader;
    this.#anchorer = anchorer;
  }

  /** Reads the store only: the ledger need not be there, now or at `start`. */
  static async open(options: AnchoringOptions): Promise<Anchoring> {
    const { config, store } = options;
    const mirror = new MirrorClient(config.mirrors);
    const ledger = options.ledger ?? new HederaClient(config);
    const guard = await SpendGuard.open(store, config.spend);
    const reader: TopicReader = await openReader(options, mirror, (anchors) => {
      anchorer.noteAnchors(anchors);
      options.onAnchor?.(anchors);
    });
    const anchorer = new Anchorer({ ...options, ledger, mirror, reader, guard });
    return new Anchoring(options, ledger, reader, anchorer);
  }

  start(): void {
    this.#reader.start();
    this.#anchorer.start();
  }

  /** The rows that must land in the write that seals a batch of this node. */
  outboxRows({ envelope, signed }: StoredBatch): Operation[] {
    const { federation, now } = this.#options;
    const message = writeAnchorMessage(batchAnchor(nativeSuite, federation, envelope, signed.statement));
    return [outboxEntry(envelope.batch, message, timestampOf(now()))];
  }

  /** A batch was sealed: its outbox row is on the disk. */
  noteSealed(): void {
    this.#anchorer.noteSealed();
  }

  /** Where a batch of this node stands; undefined for one that was never sealed here. */
  status(batch: number): Promise<BatchStatus | undefined> {
    return this.#anchorer.status(batch);
  }

  state(): Promise<AnchoringState> {
    return this.#anchorer.state();
  }

  /** The confirmed anchor of any member's envelope that the store holds, from this node's own reading of the topic. */
  anchorOf(node: NodeId, batch: number, envelope: Sha256Hash): Promise<BundleAnchor | undefined> {
    return anchorOfBatch(this.#options.store, this.#options.federation, node, batch, envelope);
  }

  /** The anchorer goes first: its trips still use the other two. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#anchorer[Symbol.asyncDispose]();
    await this.#reader[Symbol.asyncDispose]();
    await this.#ledger[Symbol.asyncDispose]();
  }
}

function openReader(
  { config, federation, store, now, random, log, onRival }: AnchoringOptions,
  mirror: MirrorClient,
  onAnchor: (anchors: readonly AnchorRow[]) => void,
): Promise<TopicReader> {
  const { network, topicId, readIntervalMs } = config;
  return TopicReader.open({
    network,
    topicId,
    federation,
    store,
    mirror,
    now,
    random,
    log,
    ...(readIntervalMs === undefined ? {} : { intervalMs: readIntervalMs }),
    onAnchor,
    ...(onRival === undefined ? {} : { onRival }),
  });
}
