import { hashParts, type Sha256Hash } from '../../../protocol/hash.ts';
import type { ConsensusTimestamp } from '../../../protocol/time.ts';
import { type MirrorClient, MirrorError } from '../../anchoring/ledger/mirror-client.ts';
import { readClock } from '../../anchoring/ledger/mirror-shapes.ts';
import { nativeSuite } from '../../keys/native-suite.ts';

/** Reads resources of one mirror for one fact, and remembers what it sent. */
export class MirrorReading {
  readonly #client: Pick<MirrorClient, 'text'>;
  readonly #mirror: string;
  readonly #signal: AbortSignal;
  readonly #texts: string[] = [];

  constructor(client: Pick<MirrorClient, 'text'>, mirror: string, signal: AbortSignal) {
    this.#client = client;
    this.#mirror = mirror;
    this.#signal = signal;
  }

  /**
   * The resource at a path below `/api/v1`. Integers that a JSON number does not hold exactly come as texts. Throws
   * `MirrorError`, also where there is no such resource, and what `read` throws.
   */
  async read<Value>(path: string, read: (body: unknown) => Value): Promise<Value> {
    const text = await this.#client.text(this.#mirror, path, this.#signal);
    if (text === null) throw new MirrorError('refused', `${this.#mirror} has no ${path}`);
    this.#texts.push(text);
    return read(parseExactly(text));
  }

  /** Consensus time up to which the mirror has everything. Read before what is as of it. */
  clock(): Promise<ConsensusTimestamp> {
    return this.read('/blocks?limit=1&order=desc', readClock);
  }

  /** SHA-256 of all that the mirror sent so far, one answer after another. */
  get rawHash(): Sha256Hash {
    return hashParts(nativeSuite, ...this.#texts);
  }

  /** Where a path is to be had. What a private mirror has in its own address, as a key, is not told. */
  endpoint(path: string): string {
    return `${new URL(this.#mirror).origin}/api/v1${path}`;
  }
}

function parseExactly(text: string): unknown {
  try {
    return JSON.parse(text, exactly);
  } catch (error) {
    throw new MirrorError('unreadable', 'a mirror answers no JSON', error);
  }
}

function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return /^-?\d+$/.test(context.source) ? context.source : value;
}
