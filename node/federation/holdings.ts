import type { Logger } from 'pino';
import type { Static, TSchema } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import { hashText } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { Closed, CountShape, OrNull, Sha256Shape } from '../../protocol/shapes.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { envelopeTable } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import type { Chains } from '../log/chains.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { Transport } from '../transport/contract.ts';

/** How long a member that is asked waits until it holds the batch, in milliseconds. */
const WAIT_MS = 2_000;
/** How long an answer is waited for, in milliseconds. */
const ANSWER_MS = 5_000;
/** How often one member is asked while own batches are held by nobody, in milliseconds. */
const SWEEP_MS = 5_000;

/** `held` protocol: asks how far the asked member holds the asker's own chain. It may wait until it holds `batch`. */
const RequestShape = Closed({ batch: CountShape });
/** The last batch of the asker that is on the disk, and the hash of its envelope; null for none. */
const AnswerShape = Closed({ batch: CountShape, envelope: OrNull(Sha256Shape) });
type Answer = Static<typeof AnswerShape>;

const request = form('request for what is held', RequestShape);
const answer = form('answer of what is held', AnswerShape);

export interface HoldingsOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly chains: Chains;
  readonly transport: Pick<Transport, 'serve' | 'request' | 'peers' | 'onConnect'>;
  /** Whether the roster in force names this node. */
  readonly isMember: (node: NodeId) => boolean;
  readonly faults: PeerFaults;
  /** Another member holds more of the own chain. Must not throw. */
  readonly onHeld: (batch: number) => void;
  readonly log: Logger;
}

/**
 * Knows how far another member holds this node's chain, so that it names no batch whose body could be lost with it
 * (protocol §2, replicate, then name). The origin asks whom it served a batch, one member at a time; where nobody asked
 * it for pages, one connected member now and then, and anyone who connects. A member's word for an envelope stands for
 * all before it: it stores a chain in order, and each envelope names the one before.
 *
 * Ownership: `#upTo` is moved by the asking loop, and by `forget`.
 */
export class Holdings implements AsyncDisposable {
  readonly #options: HoldingsOptions;
  readonly #closing = new AbortController();
  /** Member → own batch that it should hold soon. */
  readonly #expected = new Map<NodeId, number>();
  /** Those who wait until this node holds more of their chain. */
  readonly #waiting = new Map<NodeId, Set<() => void>>();
  #upTo = 0;
  #next = 0;
  #loop: Promise<void> | undefined;
  readonly #task = new PeriodicTask(SWEEP_MS, async () => this.#sweep());
  #stopListening: (() => void) | undefined;

  constructor(options: HoldingsOptions) {
    this.#options = options;
    options.transport.serve('held', (body, from, signal) => this.#serve(body, nodeId(from), signal));
  }

  start(): void {
    this.#stopListening = this.#options.transport.onConnect((peer) => this.#expect(nodeId(peer), 0));
    this.#task.start(SWEEP_MS);
  }

  /** The last own batch that another member said it holds. */
  get upTo(): number {
    return this.#upTo;
  }

  /** A member was served pages of the own chain that begin with this batch. */
  noteServed(peer: NodeId, batch: number): void {
    this.#expect(peer, batch);
  }

  /** More of a node's chain is on the disk here: its node may be waiting for that. */
  noteStored(node: NodeId): void {
    for (const wake of this.#waiting.get(node) ?? []) wake();
  }

  /** Own batches from this one on are others than before: what members said of them is void. */
  forget(from: number): void {
    this.#upTo = Math.min(this.#upTo, from - 1);
    this.#sweep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#stopListening?.();
    await this.#task[Symbol.asyncDispose]();
    await this.#loop;
  }

  /** Asks one connected member, the next in turn. */
  #sweep(): void {
    const connected = this.#options.transport.peers().filter((peer) => peer.connected);
    const peer = connected[this.#next++ % Math.max(1, connected.length)];
    if (peer !== undefined && this.#expected.size === 0) this.#expect(nodeId(peer.node), 0);
  }

  #expect(peer: NodeId, batch: number): void {
    if (this.#upTo >= this.#head || !this.#options.isMember(peer)) return;
    this.#expected.set(peer, Math.max(batch, this.#expected.get(peer) ?? 0));
    this.#wake();
  }

  #wake(): void {
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
      // Who was noted after the loop's last look, and before this.
      if (this.#expected.size > 0 && !this.#closing.signal.aborted) this.#wake();
    });
  }

  get #head(): number {
    return this.#options.chains.head(this.#options.self).batch;
  }

  async #run(): Promise<void> {
    for (const [peer, batch] of this.#expected) {
      if (this.#closing.signal.aborted) return;
      this.#expected.delete(peer);
      if (this.#upTo >= this.#head) continue;
      const before = this.#upTo;
      await this.#ask(peer, batch);
      // Anyone who holds more by now is on the way to all of it.
      if (this.#upTo > before) this.#expectMore(peer);
    }
  }

  #expectMore(peer: NodeId): void {
    if (this.#upTo < this.#head) this.#expected.set(peer, this.#upTo + 1);
  }

  async #ask(peer: NodeId, batch: number): Promise<void> {
    const { transport, faults, log } = this.#options;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(ANSWER_MS)]);
    try {
      for await (const frame of transport.request(peer, 'held', request.encode({ batch }), { signal })) {
        await this.#take(peer, answer.decode(frame));
        return;
      }
    } catch (error) {
      faults.noteError(peer, error);
      log.debug({ err: error, peer, batch }, 'a member does not say how far it holds this chain');
    }
  }

  async #take(peer: NodeId, { batch, envelope }: Answer): Promise<void> {
    const { self, store, isMember, onHeld } = this.#options;
    if (batch <= this.#upTo || envelope === null || !isMember(peer)) return;
    const own = await envelopeTable.get(store, self, batch);
    // Another envelope than the one held here now is none that is to be named.
    if (own === undefined || hashText(nativeSuite, own.statement) !== envelope || batch <= this.#upTo) return;
    this.#upTo = batch;
    onHeld(batch);
  }

  async *#serve(body: Uint8Array, from: NodeId, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { batch } = request.decode(body);
    await this.#holds(from, batch, signal);
    const head = this.#options.chains.head(from);
    yield answer.encode({ batch: head.batch, envelope: head.hash });
  }

  /** Resolves once the batch is on the disk, or after a while. */
  async #holds(node: NodeId, batch: number, signal: AbortSignal): Promise<void> {
    const { chains } = this.#options;
    const end = AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(WAIT_MS)]);
    while (chains.head(node).batch < batch && !end.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = this.#waiting.get(node) ?? new Set();
      this.#waiting.set(node, waiting.add(resolve));
      end.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      waiting.delete(resolve);
    }
  }
}

function form<Shape extends TSchema>(name: string, shape: Shape) {
  const compiled = Compile(shape);
  return {
    encode: (value: Static<Shape>): Uint8Array => utf8(JSON.stringify(value)),
    /** Throws `PeerStatementError` `malformed`. */
    decode(bytes: Uint8Array): Static<Shape> {
      let value: unknown;
      try {
        value = JSON.parse(decodeUtf8(bytes));
      } catch (error) {
        throw new PeerStatementError('malformed', error instanceof Error ? error.message : 'unreadable');
      }
      if (!compiled.Check(value)) throw new PeerStatementError('malformed', `${name} of another shape`);
      return value;
    },
  };
}
