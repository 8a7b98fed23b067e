import { once } from 'node:events';
import { Uint8ArrayList } from 'uint8arraylist';
import { TransportError } from './errors.ts';
import type { Stream, StreamMessageEvent } from '@libp2p/interface';
import { HEADER_BYTES, parseHeader } from './frames.ts';
import type { FrameKind } from './frames.ts';

export interface Frame {
  readonly kind: FrameKind;
  readonly body: Uint8Array;
}

/**
 * Reads frames from a libp2p stream one at a time. Owns the stream's reading side: iterating a stream never slows its
 * sender, so this pauses the stream above `unreadBytes`, and the sender's window runs dry.
 */
export class StreamReader implements Disposable {
  readonly #stream: Stream;
  readonly #unreadBytes: number;
  readonly #unread = new Uint8ArrayList();
  /** Stops the listeners, and wakes the one read that may wait. */
  readonly #done = new AbortController();
  readonly #arrivals = new EventTarget();
  #ended = false;

  constructor(stream: Stream, unreadBytes: number) {
    this.#stream = stream;
    this.#unreadBytes = unreadBytes;
    this.#ended = stream.readableEnded;
    stream.addEventListener('message', this.#onMessage);
    stream.addEventListener('end', this.#onEnd);
    stream.addEventListener('close', this.#onEnd);
  }

  /**
   * The next frame.
   * @throws TransportError `cut` when the stream ends first, `malformed`, `too-large`; whatever the signal's reason is
   */
  async frame(most: number, signal: AbortSignal): Promise<Frame> {
    const { kind, length } = parseHeader(await this.#take(HEADER_BYTES, signal), most);
    return { kind, body: await this.#take(length, signal) };
  }

  [Symbol.dispose]() {
    this.#done.abort();
    this.#stream.removeEventListener('message', this.#onMessage);
    this.#stream.removeEventListener('end', this.#onEnd);
    this.#stream.removeEventListener('close', this.#onEnd);
  }

  async #take(length: number, signal: AbortSignal): Promise<Uint8Array> {
    while (this.#unread.byteLength < length) {
      signal.throwIfAborted();
      this.#resume();
      if (this.#unread.byteLength >= length) break;
      if (this.#ended && this.#stream.readBufferLength === 0) {
        throw new TransportError('cut', 'the stream ended before its end marker');
      }
      await this.#arrival(signal);
    }
    const bytes = this.#unread.slice(0, length);
    this.#unread.consume(length);
    return bytes;
  }

  /** What arrived while paused lies in the stream, also after it closed; a resume gives it to us synchronously. */
  #resume() {
    if (this.#stream.readStatus !== 'paused') return;
    try {
      this.#stream.resume();
    } catch (error) {
      // The window update of a closed connection fails, after the data came.
      if (!this.#ended) throw error;
    }
  }

  async #arrival(signal: AbortSignal): Promise<void> {
    try {
      await once(this.#arrivals, 'arrival', { signal: AbortSignal.any([signal, this.#done.signal]) });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  readonly #onMessage = ({ data }: StreamMessageEvent) => {
    this.#unread.append(data);
    if (this.#unread.byteLength >= this.#unreadBytes && this.#stream.readStatus === 'readable') this.#stream.pause();
    this.#arrivals.dispatchEvent(new Event('arrival'));
  };

  readonly #onEnd = () => {
    this.#ended = true;
    this.#arrivals.dispatchEvent(new Event('arrival'));
  };
}
