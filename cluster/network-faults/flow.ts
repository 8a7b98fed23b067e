import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Conditions, lossDelay } from './conditions.ts';

/** Bytes under way after which the sender is no longer read. */
const MOST_UNDER_WAY = 1 << 20;

export interface FlowOptions {
  readonly from: Socket;
  readonly to: Socket;
  readonly conditions: () => Conditions;
  /** Resolves when the conditions may have changed, or the signal ends. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** The news that the sender ended is through. */
  readonly onEnd: () => void;
}

interface Piece {
  /** Null ends the flow. */
  readonly bytes: Uint8Array | null;
  /** When it arrives at the earliest, by `performance.now()`. */
  readonly due: number;
}

/**
 * Moves what one socket sends to another, in order, as slowly as the conditions say. Ends with either socket; a sender
 * that ends or breaks is felt at the other end only when the news gets through.
 */
export async function flow(options: FlowOptions): Promise<void> {
  const line = new Line(options);
  await Promise.all([line.take(), line.deliver()]);
}

class Line {
  readonly #options: FlowOptions;
  readonly #pieces: Piece[] = [];
  #underWay = 0;
  /** When the link has sent all that it took so far. */
  #busyUntil = 0;
  #lastDue = 0;
  #wakeTaker = Promise.withResolvers<void>();
  #wakeDeliverer = Promise.withResolvers<void>();

  constructor(options: FlowOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#wakeAll());
  }

  async take(): Promise<void> {
    const { from, signal } = this.#options;
    try {
      for await (const chunk of from) {
        if (signal.aborted) return;
        if (chunk instanceof Uint8Array) this.#enqueue(chunk);
        while (this.#underWay > MOST_UNDER_WAY && !signal.aborted) {
          this.#wakeTaker = Promise.withResolvers();
          await this.#wakeTaker.promise;
        }
      }
    } catch {
      // A sender that broke: the other end learns of it as of an end.
    }
    this.#enqueue(null);
  }

  async deliver(): Promise<void> {
    const { to, signal, conditions, changed, onEnd } = this.#options;
    while (!signal.aborted) {
      const piece = this.#pieces[0];
      if (piece === undefined) {
        this.#wakeDeliverer = Promise.withResolvers();
        await this.#wakeDeliverer.promise;
        continue;
      }
      const wait = piece.due - performance.now();
      if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined);
      while (conditions().cut && !signal.aborted) await changed(signal);
      if (signal.aborted) return;
      this.#pieces.shift();
      if (piece.bytes === null) {
        onEnd();
        return;
      }
      this.#underWay -= piece.bytes.length;
      this.#wakeTaker.resolve();
      if (!to.destroyed && !to.write(piece.bytes)) await once(to, 'drain', { signal }).catch(() => undefined);
    }
  }

  #enqueue(bytes: Uint8Array | null): void {
    const { conditions, random } = this.#options;
    const { delayMs, loss, bytesPerSecond } = conditions();
    const length = bytes?.length ?? 0;
    this.#busyUntil = Math.max(this.#busyUntil, performance.now()) + (length / bytesPerSecond) * 1_000;
    this.#lastDue = Math.max(this.#lastDue, this.#busyUntil + delayMs) + lossDelay(loss, length, random);
    this.#pieces.push({ bytes, due: this.#lastDue });
    this.#underWay += length;
    this.#wakeDeliverer.resolve();
  }

  #wakeAll(): void {
    this.#wakeTaker.resolve();
    this.#wakeDeliverer.resolve();
  }
}
