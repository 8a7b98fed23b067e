import { setTimeout as sleep } from 'node:timers/promises';
import type { PeerId, Stream } from '@libp2p/interface';
import type { Logger } from 'pino';
import {
  MEMBER_PROTOCOLS,
  MEMBER_WEIGHTS,
  type MemberProtocol,
  SENT_KIB_MS,
} from '../accounts/limits/route-weights.ts';
import type { MemberRefusal, Serve, WireFault } from './contract.ts';
import { reasonOf, TransportError, wireFaultOf } from './errors.ts';
import type { FloodGuard } from './flood-guard.ts';
import { dataFrame, HEADER_BYTES, isRefusal, lastFrame, type Refusal } from './frames.ts';
import type { MeridianNode } from './libp2p-node.ts';
import type { TransportLimits } from './limits.ts';
import type { Members } from './members.ts';
import type { WireNames } from './names.ts';
import { Bucket, RequestGate } from './rate-limit.ts';
import { StreamReader } from './stream-reader.ts';

/** Allowances of a minute, which come back evenly: what is there at once is that of a whole minute. */
interface MemberBudgetLimits {
  readonly processorMsPerPeer: number;
  readonly bytesPerPeer: number;
  /** Of all members together. */
  readonly processorMs: number;
}

interface Account {
  readonly processor: Bucket;
  readonly bytes: Bucket;
}

const MINUTE_SECONDS = 60;
const KIB = 1024;

/**
 * What answering each member may cost of the processor, and in bytes sent, in a minute. A request weighs something when
 * it is taken on, and its answer as it is sent; what an answer goes over the allowance is owed: the next one is taken
 * on once that has come back.
 */
export class MemberBudget {
  readonly #limits: MemberBudgetLimits;
  readonly #all: Bucket;
  readonly #accounts = new Map<string, Account>();

  /** `now`: of a steady clock, in milliseconds. */
  constructor(limits: MemberBudgetLimits, now: number) {
    this.#limits = limits;
    this.#all = minuteBucket(limits.processorMs, now);
  }

  /** Takes on a request of a member, or tells that it is to come back later. */
  admit(node: string, protocol: MemberProtocol, now: number): boolean {
    const { processor, bytes } = this.#accountOf(node, now);
    if (!processor.fill(now) || !bytes.fill(now) || !this.#all.fill(now)) return false;
    const cost = MEMBER_WEIGHTS[protocol];
    processor.take(cost);
    this.#all.take(cost);
    return true;
  }

  /** Counts bytes that are being sent to a member. */
  noteSent(node: string, sent: number, now: number): void {
    const { processor, bytes } = this.#accountOf(node, now);
    const cost = (sent / KIB) * SENT_KIB_MS;
    processor.take(cost);
    this.#all.take(cost);
    bytes.take(sent);
  }

  /** Forgets those that are members no longer. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const node of this.#accounts.keys()) if (!nodes.has(node)) this.#accounts.delete(node);
  }

  #accountOf(node: string, now: number): Account {
    const known = this.#accounts.get(node);
    if (known !== undefined) return known;
    const { processorMsPerPeer, bytesPerPeer } = this.#limits;
    const account = { processor: minuteBucket(processorMsPerPeer, now), bytes: minuteBucket(bytesPerPeer, now) };
    this.#accounts.set(node, account);
    return account;
  }
}

function minuteBucket(perMinute: number, now: number): Bucket {
  return new Bucket(perMinute / MINUTE_SECONDS, perMinute, now);
}

/** How often a full stream is looked at, in milliseconds. */
const POLL_INTERVAL = 5;

/**
 * Sends bytes, and returns once at most `unsentBytes` of the stream wait. The length is polled because `onDrain`
 * resolves while the buffer is still full.
 * @throws TransportError `cut` once the stream is closed; the signal's reason
 */
async function sendPaced(stream: Stream, bytes: Uint8Array, unsentBytes: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  assertWritable(stream);
  stream.send(bytes);
  while (stream.writeBufferLength > unsentBytes) {
    await sleep(POLL_INTERVAL, undefined, { signal });
    assertWritable(stream);
  }
}

/** A stream that the peer reset keeps its unsent bytes for ever. */
function assertWritable(stream: Stream) {
  if (stream.writeStatus !== 'writable') throw new TransportError('cut', 'the peer closed the stream');
}

/** Above what the gates and the flood guard admit, so that one too many is told so, and noted, rather than reset. */
const STREAMS_PER_PROTOCOL = 320;
/** What a member asks for of its own accord. `record` and `payload` are asked for whenever a user wants one. */
const PAGED: readonly MemberProtocol[] = ['status', 'batches'];

/** A protocol, in the version that was agreed on. */
interface AskedProtocol {
  readonly protocol: MemberProtocol;
  readonly version: number;
}

interface RequestServerOptions {
  readonly names: WireNames;
  readonly members: Members;
  readonly limits: Readonly<TransportLimits>;
  readonly guard: FloodGuard;
  readonly onFault: (node: string, fault: WireFault) => void;
  readonly onRefused: (node: string, refusal: MemberRefusal) => void;
  readonly log: Logger;
  /** Ends every answer under way. */
  readonly signal: AbortSignal;
}

/** Answers the requests of other members, paced by their reading, bounded in number, rate, size and time. */
export class RequestServer {
  readonly #names: WireNames;
  readonly #members: Members;
  readonly #limits: Readonly<TransportLimits>;
  readonly #onFault: RequestServerOptions['onFault'];
  readonly #onRefused: RequestServerOptions['onRefused'];
  readonly #budget: MemberBudget;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #guard: FloodGuard;
  readonly #gate: RequestGate;
  readonly #pageGate: RequestGate;
  readonly #servers = new Map<MemberProtocol, Serve>();

  constructor({ names, members, limits, guard, onFault, onRefused, log, signal }: RequestServerOptions) {
    this.#names = names;
    this.#members = members;
    this.#limits = limits;
    this.#onFault = onFault;
    this.#onRefused = onRefused;
    this.#log = log;
    this.#signal = signal;
    this.#guard = guard;
    const now = performance.now();
    const requestsInFlightPerPeer = Math.min(limits.requestsInFlightPerPeer, limits.pagesInFlightPerPeer);
    this.#budget = new MemberBudget(limits, now);
    this.#gate = new RequestGate(limits, now);
    this.#pageGate = new RequestGate({ ...limits, requestsInFlightPerPeer }, now);
  }

  /** @throws Error when the protocol has its server already */
  serve(protocol: MemberProtocol, serve: Serve) {
    if (this.#servers.has(protocol)) throw new Error(`protocol ${protocol} is served already`);
    this.#servers.set(protocol, serve);
  }

  /** Every protocol is offered; one without a server answers `refused`. */
  async attach(node: MeridianNode): Promise<void> {
    for (const protocol of MEMBER_PROTOCOLS) {
      for (const { name, version } of this.#names.protocols(protocol)) {
        await node.handle(
          name,
          (stream, connection) => this.#converse({ protocol, version }, stream, connection.remotePeer),
          { maxInboundStreams: STREAMS_PER_PROTOCOL },
        );
      }
    }
  }

  forgetStrangers() {
    const nodes = new Set(this.#members.others().map((member) => member.node));
    for (const gate of [this.#gate, this.#pageGate]) gate.keepOnly(nodes);
    this.#budget.keepOnly(nodes);
  }

  /**
   * One request and its answer. Never rejects; the stream is finished when it returns. The request is read before
   * anything is said, refusals too: a reset that overtakes the asker's negotiation would hide what we say.
   */
  async #converse(asked: AskedProtocol, stream: Stream, peer: PeerId): Promise<void> {
    const from = this.#members.nodeOf(peer);
    const finish = from === null ? () => undefined : this.#guard.admitConversation(peer);
    if (finish === null) {
      if (from !== null) this.#onRefused(from, 'streams');
      stream.abort(new Error('too many streams'));
      return;
    }
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    stream.addEventListener('close', onClose);
    try {
      const signal = this.#within(this.#limits.requestTimeout, this.#signal, gone.signal);
      const last = from === null ? 'refused' : await this.#attempt(asked, stream, from, peer, signal);
      stream.send(lastFrame(last));
      await stream.close({ signal: this.#within(this.#limits.frameTimeout, this.#signal) });
    } catch (error) {
      this.#log.debug({ ...asked, peer: from, reason: reasonOf(error) }, 'answer was cut');
    } finally {
      stream.removeEventListener('close', onClose);
      stream.abort(new Error('the conversation is over'));
      finish();
    }
  }

  /** Serves one request and says how the answer ends. */
  async #attempt(
    asked: AskedProtocol,
    stream: Stream,
    from: string,
    peer: PeerId,
    signal: AbortSignal,
  ): Promise<'end' | Refusal> {
    const { protocol } = asked;
    const isPaged = PAGED.includes(protocol);
    let release: (() => void) | null = null;
    try {
      const request = await this.#readRequest(stream, from, signal);
      release = (isPaged ? this.#pageGate : this.#gate).admit(from, performance.now());
      if (release === null) {
        this.#onFault(from, 'flood');
        return this.#refuse(from, peer, 'requests', isPaged);
      }
      // No fault: a member that was away for long may have much to fetch.
      if (!this.#budget.admit(from, protocol, performance.now())) return this.#refuse(from, peer, 'allowance', isPaged);
      await this.#answer(asked, stream, request, from, signal);
      return 'end';
    } catch (error) {
      if (error instanceof TransportError && isRefusal(error.code)) return error.code;
      if (stream.status === 'open') this.#log.warn({ protocol, peer: from, reason: reasonOf(error) }, 'answer failed');
      return 'failed';
    } finally {
      release?.();
    }
  }

  #refuse(from: string, peer: PeerId, refusal: MemberRefusal, isPaged: boolean): 'busy' {
    this.#onRefused(from, refusal);
    if (isPaged) this.#guard.noteRefusal(peer);
    return 'busy';
  }

  async #answer(
    { protocol, version }: AskedProtocol,
    stream: Stream,
    request: Uint8Array,
    from: string,
    signal: AbortSignal,
  ): Promise<void> {
    const serve = this.#servers.get(protocol);
    if (serve === undefined) throw new TransportError('refused', `${protocol} is not served here`);
    let sent = 0;
    const frames = serve(request, from, signal, version)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await orAbort(frames.next(), signal);
        if (next.done === true) return;
        const length = HEADER_BYTES + next.value.length;
        sent += length;
        this.#budget.noteSent(from, length, performance.now());
        if (next.value.length > this.#limits.frameBytes || sent > this.#limits.answerBytes) {
          throw new TransportError('too-large', `the answer is over the limit after ${sent} bytes`);
        }
        const paced = this.#within(this.#limits.frameTimeout, signal);
        await sendPaced(stream, dataFrame(next.value), this.#limits.unsentBytes, paced);
      }
    } finally {
      // Not awaited: a server that ignores its signal must not hold the stream and its place.
      frames.return?.().catch(() => undefined);
    }
  }

  async #readRequest(stream: Stream, from: string, signal: AbortSignal): Promise<Uint8Array> {
    using reader = new StreamReader(stream, this.#limits.unreadBytes);
    const waiting = this.#within(this.#limits.firstFrameTimeout, signal);
    const { kind, body } = await reader.frame(this.#limits.requestBytes, waiting).catch((error: unknown) => {
      const fault = wireFaultOf(error);
      if (fault !== null && !signal.aborted) this.#onFault(from, fault);
      throw error;
    });
    if (kind !== 'data') throw new TransportError('malformed', 'a request is one data frame');
    return body;
  }

  #within(milliseconds: number, ...signals: AbortSignal[]): AbortSignal {
    return AbortSignal.any([...signals, AbortSignal.timeout(milliseconds)]);
  }
}

/**
 * The promise's outcome, or the signal's reason if that comes first. The promise runs on unobserved after that.
 */
async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
