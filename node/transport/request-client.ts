import type { Stream } from '@libp2p/interface';
import type { MemberProtocol } from '../accounts/limits/route-weights.ts';
import { openConnection } from './connections.ts';
import type { WireFault } from './contract.ts';
import { reasonOf, TransportError, wireFaultOf } from './errors.ts';
import { dataFrame, HEADER_BYTES } from './frames.ts';
import type { MeridianNode } from './libp2p-node.ts';
import type { TransportLimits } from './limits.ts';
import type { Members } from './members.ts';
import type { WireNames } from './names.ts';
import { StreamReader } from './stream-reader.ts';

/** Streams of one protocol that we open on one connection; the peer's own bound is lower. */
const STREAMS_PER_PROTOCOL = 64;
/**
 * What a frame counts for at least of an answer: its reader may keep an object and a buffer of each, of a single byte
 * too. In bytes.
 */
const LEAST_FRAME_BYTES = 512;
/** What libp2p throws, on opening, when either side has too many streams: worth another try. */
const CROWDED = new Set([
  'StreamStateError',
  'StreamResetError',
  'TooManyOutboundProtocolStreamsError',
  'TooManyInboundProtocolStreamsError',
]);

interface RequestClientOptions {
  readonly node: MeridianNode;
  readonly names: WireNames;
  readonly members: Members;
  readonly limits: Readonly<TransportLimits>;
  readonly onFault: (node: string, fault: WireFault) => void;
  /** Ends every request under way. */
  readonly signal: AbortSignal;
}

/** Asks other members, over connections that stand: it never dials. */
export class RequestClient {
  readonly #node: MeridianNode;
  readonly #names: WireNames;
  readonly #members: Members;
  readonly #limits: Readonly<TransportLimits>;
  readonly #onFault: RequestClientOptions['onFault'];
  readonly #signal: AbortSignal;

  constructor({ node, names, members, limits, onFault, signal }: RequestClientOptions) {
    this.#node = node;
    this.#names = names;
    this.#members = members;
    this.#limits = limits;
    this.#onFault = onFault;
    this.#signal = signal;
  }

  async *request(
    to: string,
    protocol: MemberProtocol,
    body: Uint8Array,
    caller?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    if (body.length > this.#limits.requestBytes) {
      throw new TransportError('too-large', `a request of ${body.length} bytes is over ${this.#limits.requestBytes}`);
    }
    const ours = caller === undefined ? this.#signal : AbortSignal.any([this.#signal, caller]);
    const whole = AbortSignal.any([ours, AbortSignal.timeout(this.#limits.requestTimeout)]);
    const stream = await this.#open(to, protocol, ours, whole);
    try {
      stream.send(dataFrame(body));
      yield* this.#frames(stream, to, whole);
    } catch (error) {
      throw translated(error, ours, 'cut');
    } finally {
      // Also runs when the consumer stops early; an unfinished answer must not stay open at the server.
      stream.abort(new Error('the request is over'));
    }
  }

  async #open(to: string, protocol: MemberProtocol, ours: AbortSignal, whole: AbortSignal): Promise<Stream> {
    const member = this.#members.other(to);
    const connection = member === null ? null : openConnection(this.#node, member.peerId);
    if (connection === null) throw new TransportError('unreachable', `${to} is not connected`);
    const opening = AbortSignal.any([whole, AbortSignal.timeout(this.#limits.openTimeout)]);
    try {
      const names = this.#names.protocols(protocol).map(({ name }) => name);
      return await connection.newStream(names, {
        signal: opening,
        maxOutboundStreams: STREAMS_PER_PROTOCOL,
      });
    } catch (error) {
      if (error instanceof Error && CROWDED.has(error.name)) {
        throw new TransportError('busy', `${to} takes no more streams`, error);
      }
      throw translated(opening.aborted ? opening.reason : error, ours, 'unreachable');
    }
  }

  async *#frames(stream: Stream, to: string, whole: AbortSignal): AsyncGenerator<Uint8Array> {
    using reader = new StreamReader(stream, this.#limits.unreadBytes);
    let patience = this.#limits.firstFrameTimeout;
    let received = 0;
    for (;;) {
      // The signal that opened the stream does not bound its reads.
      const waiting = AbortSignal.any([whole, AbortSignal.timeout(patience)]);
      const { kind, body } = await reader.frame(this.#limits.frameBytes, waiting).catch((error: unknown) => {
        const fault = wireFaultOf(error);
        if (fault !== null) this.#onFault(to, fault);
        throw error;
      });
      if (kind === 'end') return;
      if (kind !== 'data') throw new TransportError(kind, 'the peer refused the request or gave it up');
      received += Math.max(HEADER_BYTES + body.length, LEAST_FRAME_BYTES);
      if (received > this.#limits.answerBytes) {
        this.#onFault(to, 'oversize');
        throw new TransportError('too-large', `an answer is over ${this.#limits.answerBytes} bytes`);
      }
      yield body;
      patience = this.#limits.frameTimeout;
    }
  }
}

/** Any failure of a request under one of our codes; `otherwise` for what the network did. */
function translated(error: unknown, ours: AbortSignal, otherwise: 'cut' | 'unreachable'): TransportError {
  if (ours.aborted) return new TransportError('aborted', 'the request was called off', error);
  if (error instanceof TransportError) return error;
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError') return new TransportError('timeout', 'the peer took too long', error);
  if (name === 'UnsupportedProtocolError') return new TransportError('refused', reasonOf(error), error);
  return new TransportError(otherwise, reasonOf(error), error);
}
