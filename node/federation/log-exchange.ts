import type { Logger } from 'pino';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import { encodeGossip, type GossipMessage, TOPIC_OF } from './gossip-forms.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { Transport } from '../transport/contract.ts';
import type { TopicReading } from '../anchoring/topic/topic-reading.ts';
import type { TopicPoint } from '../anchoring/ledger/topic-point.ts';
import type { CheckpointStore } from '../log/checkpoint-store.ts';
import type { Checkpoints } from '../log/checkpoints.ts';
import type { MemberClocks } from '../log/member-clocks.ts';
import { logFrames, logRequest, readLogAnswer, readLogRequest } from '../log/log-forms.ts';

/** Gossip has no history, so members ask each other this often besides on every connection. In milliseconds. */
const EXCHANGE_MS = 30_000;
/** And so long after each connection: what is said meanwhile goes out before gossip is meshed. In milliseconds. */
const SETTLING_MS = [1_000, 3_000] as const;
/** What is told goes out at most this often; a later point says all that an earlier one did. In milliseconds. */
const TELL_INTERVAL_MS = 200;

export interface LogExchangeOptions {
  readonly self: NodeId;
  readonly transport: Pick<Transport, 'serve' | 'request' | 'publish' | 'onConnect' | 'peers'>;
  readonly reading: Pick<TopicReading, 'tell' | 'noteTold'>;
  readonly checkpointStore: Pick<CheckpointStore, 'shown'>;
  readonly checkpoints: Pick<Checkpoints, 'learn'>;
  readonly clocks: MemberClocks;
  readonly now: () => number;
  readonly faults: PeerFaults;
  readonly log: Logger;
}

/** Tells the other members how far this node's sources agree on the topic, and exchanges checkpoints with them. */
export class LogExchange implements AsyncDisposable {
  readonly #options: LogExchangeOptions;
  readonly #closing = new AbortController();
  readonly #asking = new Map<NodeId, Promise<void>>();
  #stopListening: (() => void) | undefined;
  readonly #task = new PeriodicTask(EXCHANGE_MS, async () => this.askAll());
  #telling: NodeJS.Timeout | undefined;
  /** Sequence number that was told last. */
  #told = 0;
  /** By the clock, but past the one before, wherever the clock was set. */
  #toldAt = 0;
  /** By member, how often it told something by gossip. */
  readonly #heard = new Map<NodeId, number>();

  constructor(options: LogExchangeOptions) {
    this.#options = options;
    options.transport.serve('log', (request, from) => this.#serve(request, nodeId(from)));
  }

  start(): void {
    const { transport } = this.#options;
    this.#stopListening = transport.onConnect((peer) => this.#meet(nodeId(peer)));
    for (const { node, connected } of transport.peers()) if (connected) this.#meet(nodeId(node));
    this.#task.start(EXCHANGE_MS);
  }

  /** The own sources agree on another point: every member is told, soon, and at once where it takes something back. */
  tell(): void {
    const isFall = this.#options.reading.tell().sequence < this.#told;
    if (isFall) this.#tellNow();
    else this.#telling ??= setTimeout(() => this.#tellNow(), TELL_INTERVAL_MS);
  }

  /** Sends a checkpoint of this node to every member. */
  publish(signed: SignedCheckpoint): Promise<void> {
    return this.#publish({ type: 'checkpoint', signed });
  }

  /** Asks every connected member now that is not being asked already. */
  askAll(): void {
    const { transport, checkpointStore } = this.#options;
    const peers = transport.peers().flatMap(({ node, connected }) => (connected ? [nodeId(node)] : []));
    const idle = peers.filter((peer) => !this.#asking.has(peer));
    if (idle.length === 0) return;
    // Once for all: it hashes every checkpoint that is held.
    const request = logRequest(checkpointStore.shown());
    for (const peer of idle) this.#ask(peer, request);
  }

  /** Takes what a member told. */
  noteTold(from: NodeId, point: TopicPoint): void {
    this.#heard.set(from, (this.#heard.get(from) ?? 0) + 1);
    this.#options.reading.noteTold(from, point);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#telling);
    this.#stopListening?.();
    await this.#task[Symbol.asyncDispose]();
    await Promise.allSettled(this.#asking.values());
  }

  async *#serve(request: Uint8Array, from: NodeId): AsyncGenerator<Uint8Array> {
    const { reading, checkpointStore, now, faults } = this.#options;
    try {
      const checkpoints = checkpointStore.shown().filter(readLogRequest(request));
      yield* logFrames({ clock: Math.floor(now()), told: reading.tell(), checkpoints });
    } catch (error) {
      faults.noteError(from, error);
      throw error;
    }
  }

  #tellNow(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    const point = this.#options.reading.tell();
    this.#told = point.sequence;
    const { self, now } = this.#options;
    this.#toldAt = Math.max(this.#toldAt + 1, Math.floor(now()));
    void this.#publish({ type: 'told', node: self, at: this.#toldAt, point });
  }

  #meet(peer: NodeId): void {
    this.#ask(peer);
    for (const delay of SETTLING_MS) setTimeout(() => this.#ask(peer), delay).unref();
  }

  #ask(peer: NodeId, request?: Uint8Array): void {
    if (this.#asking.has(peer) || this.#closing.signal.aborted) return;
    const asking = this.#exchange(peer, request ?? logRequest(this.#options.checkpointStore.shown()))
      .catch((error: unknown) => {
        this.#options.faults.noteError(peer, error);
        this.#options.log.debug({ err: error, peer }, 'a member does not say how its log stands');
      })
      .finally(() => this.#asking.delete(peer));
    this.#asking.set(peer, asking);
  }

  async #exchange(peer: NodeId, request: Uint8Array): Promise<void> {
    const { transport, reading, checkpoints, clocks, faults, log } = this.#options;
    const options = { signal: this.#closing.signal };
    const heard = this.#heard.get(peer);
    const frames: Uint8Array[] = [];
    const askedAt = performance.now();
    let answeredAt = askedAt;
    for await (const frame of transport.request(peer, 'log', request, options)) {
      // The clock is in the first frame: the others take their own time.
      if (frames.length === 0) answeredAt = performance.now();
      frames.push(frame);
    }
    const answer = readLogAnswer(frames);
    clocks.note(peer, answer.clock + (performance.now() - answeredAt), answeredAt - askedAt);
    // What it told meanwhile is newer: a lower point would take it back.
    if (this.#heard.get(peer) === heard) reading.noteTold(peer, answer.told);
    for (const signed of answer.checkpoints) {
      try {
        await checkpoints.learn(signed);
      } catch (error) {
        // One that does not hold, or not yet, must not hide the others.
        if (!(error instanceof PeerStatementError)) throw error;
        faults.noteError(peer, error);
        log.debug({ err: error, peer }, 'a member holds a checkpoint that is refused here');
      }
    }
  }

  async #publish(message: GossipMessage): Promise<void> {
    try {
      await this.#options.transport.publish(TOPIC_OF[message.type], encodeGossip(message));
    } catch (error) {
      // Members that missed it learn of it when they ask.
      this.#options.log.debug({ err: error, type: message.type }, 'gossip was not sent');
    }
  }
}
